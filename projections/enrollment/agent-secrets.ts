import { agentSecretEvents } from '../../src/contexts/enrollment/domain/agent-secret.ts';
import {
  at,
  defineReadModel,
  json,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

export interface KnownAgentSecret {
  readonly secretId: string;
  readonly issuedAt: string;
  readonly issuedBy: string | null;
  /** ISO 8601. Null: valid until another is issued or it is removed. */
  readonly validUntil: string | null;
}

const columns = {
  /** Each tenant has one row. */
  role: text as Column<'agents'>,
  secrets: json<readonly KnownAgentSecret[]>(),
  last_rotated_at: timestamp,
};
export type AgentSecretsRow = Row<{ columns: typeof columns }>;

const agents = { role: 'agents' as const };

/** The valid agent secrets and their dates. Nothing here allows an enrollment. */
export const agentSecretsModel = defineReadModel({
  name: 'agent_secrets',
  version: 1,
  lane: 'main',
  columns,
  key: ['role'],
  families: [agentSecretEvents],
  on: {
    AgentSecretIssued: (event) => ({
      key: agents,
      fold: (row) => {
        const { secretId, issuedAt, previousValidUntil } = event.data;
        const previous = (row?.secrets ?? [])
          .filter(({ validUntil }) => validUntil === null)
          .map((secret) => ({ ...secret, validUntil: previousValidUntil }));
        return {
          ...agents,
          secrets: [{ secretId, issuedAt, issuedBy: event.metadata.actor.id, validUntil: null }, ...previous],
          last_rotated_at: at(event),
        };
      },
    }),
    AgentSecretRemoved: (event) => ({
      key: agents,
      fold: (row) => row && { ...row, secrets: row.secrets.filter(({ secretId }) => secretId !== event.data.secretId) },
    }),
  },
});
