import { agentSecrets, agentSecretStream } from '../../src/contexts/enrollment/domain/agent-secret.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface IssueAgentSecret {
  readonly secretId: string;
  /** The secret itself goes to the caller and nowhere else. */
  readonly secretDigest: string;
  /** How long the secret before stays valid beside this one. */
  readonly overlapHours: number;
}

const HOUR_MS = 3_600_000;

/** Gives the tenant's agents a secret, or another one. Two are valid at once at most: of three the oldest ends now. */
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
