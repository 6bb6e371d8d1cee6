import { z } from 'zod';
import type { UnblockKeyRow } from '../../projections/policies/unblock-keys.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** An unblock key as the interface shows it (choice OP-116). The key itself is only in the response that created it. */
export const unblockKeyView = z
  .object({
    id: z.uuid(),
    domain: z.string(),
    userId: z.uuid().nullable(),
    deviceId: z.uuid().nullable(),
    reason: z.string(),
    status: z.enum(['active', 'used', 'expired', 'revoked']),
    expiresAt: z.iso.datetime(),
    maxUses: z.literal(1),
    usedAt: z.iso.datetime().nullable(),
    createdBy: z.uuid().nullable(),
    createdAt: z.iso.datetime(),
  })
  .meta({ title: 'UnblockKey' });
export type UnblockKeyView = z.output<typeof unblockKeyView>;

export const toUnblockKeyView = (row: UnblockKeyRow, now: number): UnblockKeyView => ({
  id: row.unblock_key_id,
  domain: row.domain,
  userId: row.user_id,
  deviceId: row.device_id,
  reason: row.reason,
  status:
    row.used_at !== null
      ? 'used'
      : row.revoked_at !== null
        ? 'revoked'
        : Date.parse(row.expires_at) <= now
          ? 'expired'
          : 'active',
  expiresAt: row.expires_at,
  maxUses: 1,
  usedAt: row.used_at,
  createdBy: row.created_by,
  createdAt: row.created_at,
});

const SQL = 'select * from unblock_keys where tenant_id = $1 order by created_at desc, unblock_key_id';

export const listUnblockKeys: Query<{ now: number }, { unblockKeys: UnblockKeyView[]; total: number }> = async (
  reads,
  { now },
) => {
  const rows = await reads.rows<UnblockKeyRow>(SQL);
  return { unblockKeys: rows.map((row) => toUnblockKeyView(row, now)), total: rows.length };
};
