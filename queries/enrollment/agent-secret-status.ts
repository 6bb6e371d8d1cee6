import { z } from 'zod';
import type { AgentSecretsRow } from '../../projections/enrollment/agent-secrets.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Whether agents may enroll by themselves, and the metadata of their secrets. Never contains the secrets. */
export const agentSecretStatusView = z
  .object({
    configured: z.boolean(),
    lastRotatedAt: z.iso.datetime().nullable(),
    /** The newest secret, and the previous one while it is valid. */
    versions: z.array(
      z.object({
        id: z.uuid(),
        createdAt: z.iso.datetime(),
        createdBy: z.uuid().nullable(),
        /** Null: valid until another is issued or it is removed. */
        expiresAt: z.iso.datetime().nullable(),
      }),
    ),
  })
  .meta({ title: 'AgentSecretStatus' });

const SQL = `select * from agent_secrets where tenant_id = $1 and role = 'agents'`;

export const agentSecretStatus: Query<{ now: number }, z.output<typeof agentSecretStatusView>> = async (
  reads,
  { now },
) => {
  const row = await reads.one<AgentSecretsRow>(SQL);
  const live = (row?.secrets ?? []).filter(({ validUntil }) => validUntil === null || Date.parse(validUntil) > now);
  return {
    configured: live.length > 0,
    lastRotatedAt: row?.last_rotated_at ?? null,
    versions: live.map(({ secretId, issuedAt, issuedBy, validUntil }) => ({
      id: secretId,
      createdAt: issuedAt,
      createdBy: issuedBy,
      expiresAt: validUntil,
    })),
  };
};
