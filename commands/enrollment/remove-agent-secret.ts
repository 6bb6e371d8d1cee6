import {
  agentSecrets,
  agentSecretStream,
  validAgentSecrets,
} from '../../src/contexts/enrollment/domain/agent-secret.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RemoveAgentSecret {
  /** Null: all secrets, so that no agent can enroll by itself. */
  readonly secretId: string | null;
}

/** Removes secrets: they enroll no further devices. Devices already enrolled with them stay. */
export const removeAgentSecret = defineCommand({
  name: 'RemoveAgentSecret',
  aggregate: agentSecrets,
  stream: (_input: RemoveAgentSecret, { tenantId }) => agentSecretStream(tenantId),
  decide(state, { secretId }, { now }) {
    const chosen = validAgentSecrets(state, now).filter((secret) => secretId === null || secret.secretId === secretId);
    if (chosen.length === 0) return notFound();
    return accept(
      chosen.map((secret) => ({ type: 'AgentSecretRemoved' as const, data: { secretId: secret.secretId } })),
    );
  },
  freshens: ['agent_secrets'],
});
