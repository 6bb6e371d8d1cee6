import { agentSecrets, agentSecretStream } from '../../src/contexts/enrollment/domain/agent-secret.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface IssueAgentSecret {
  readonly secretId: string;
  /** Only the digest is stored; the secret itself goes only to the caller. */
  readonly secretDigest: string;
  /** How long the previous secret stays valid, in hours. */
  readonly overlapHours: number;
}

const HOUR_MS = 3_600_000;

/** Issues a new secret for the tenant's agents. At most two are valid at once: a third ends the oldest at once. */
export const issueAgentSecret = defineCommand({
  name: 'IssueAgentSecret',
  aggregate: agentSecrets,
  stream: (_input: IssueAgentSecret, { tenantId }) => agentSecretStream(tenantId),
  decide({ secrets }, { secretId, secretDigest, overlapHours }, { now }) {
    const hasPrevious = secrets.some(({ validUntil }) => validUntil === null);
    const previousValidUntil = hasPrevious ? new Date(now + overlapHours * HOUR_MS).toISOString() : null;
    const issued = { secretId, secretDigest, issuedAt: new Date(now).toISOString(), previousValidUntil };
    return acceptWith({ previousExpiresAt: previousValidUntil }, [{ type: 'AgentSecretIssued', data: issued }]);
  },
  freshens: ['agent_secrets'],
});
