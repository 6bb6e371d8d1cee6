import { z } from 'zod';
import type { EnrollmentTokenRow } from '../../projections/enrollment/enrollment-tokens.ts';
import { notFoundIn } from '../../src/platform/kernel/failure.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, type KeysetOrder } from '../keyset.ts';

export const enrollmentTokenStatuses = ['valid', 'used', 'expired', 'revoked'] as const;
type EnrollmentTokenStatus = (typeof enrollmentTokenStatuses)[number];

/** An enrollment token without the token itself, which is only in the response that created it. */
export const enrollmentTokenView = z
  .object({
    id: z.uuid(),
    status: z.enum(enrollmentTokenStatuses),
    /** The employee whose browser it enrolls; null: it enrolls a placeholder. */
    userId: z.uuid().nullable(),
    /** Common id of the tokens of one bulk configuration. */
    batchId: z.uuid().nullable(),
    createdBy: z.uuid().nullable(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    usedAt: z.iso.datetime().nullable(),
    /** The device enrolled with it. */
    deviceId: z.uuid().nullable(),
    revokedAt: z.iso.datetime().nullable(),
    revokedBy: z.uuid().nullable(),
  })
  .meta({ title: 'EnrollmentToken' });
export type EnrollmentTokenView = z.output<typeof enrollmentTokenView>;

export interface EnrollmentTokenFilter {
  readonly status?: EnrollmentTokenStatus | undefined;
  readonly batchId?: string | undefined;
  readonly userId?: string | undefined;
}

type TokenAsSeen = EnrollmentTokenRow & { readonly status_now: EnrollmentTokenStatus };

/** A returned token (`t`) counts for its device only: it is used up once that is gone. */
export const HAS_LIVE_DEVICE = `(t.device_id is null or exists (
  select from devices d where d.tenant_id = t.tenant_id and d.device_id = t.device_id and d.status in ('active', 'wipe_pending')))`;
const STATUS = `case when t.used_at is not null or not ${HAS_LIVE_DEVICE} then 'used' when t.revoked_at is not null then 'revoked' when t.expires_at <= now() then 'expired' else 'valid' end`;
const FROM = `
    from (select t.*, ${STATUS} as status_now from enrollment_tokens t where t.tenant_id = $1) t
   where t.tenant_id = $1 and ($2::text is null or t.status_now = $2) and ($3::uuid is null or t.batch_id = $3) and ($4::uuid is null or t.user_id = $4)`;
const COUNT = `select count(*)::int as total ${FROM}`;
const VALID = `select t.token_id ${FROM} order by t.issued_at, t.token_id limit $5`;

const viewOf = (row: TokenAsSeen): EnrollmentTokenView => ({
  id: row.token_id,
  status: row.status_now,
  userId: row.user_id,
  batchId: row.batch_id,
  createdBy: row.issued_by,
  createdAt: row.issued_at,
  expiresAt: row.expires_at,
  usedAt: row.used_at,
  deviceId: row.device_id,
  revokedAt: row.revoked_at,
  revokedBy: row.revoked_by,
});

const parametersOf = ({ status, batchId, userId }: EnrollmentTokenFilter) => [
  status ?? null,
  batchId ?? null,
  userId ?? null,
];

export const enrollmentTokenOrder: KeysetOrder<TokenAsSeen> = {
  list: 'enrollment-tokens',
  columns: [descending('t.issued_at', 'timestamptz'), ascending('t.token_id', 'uuid')],
  valuesOf: ({ issued_at, token_id }) => [issued_at, token_id],
};

export const listEnrollmentTokens: Query<
  EnrollmentTokenFilter & Page,
  { tokens: EnrollmentTokenView[] } & KeysetPaginated
> = async (reads, input) => {
  const { rows, ...pages } = await listPage(
    reads,
    { order: enrollmentTokenOrder, count: COUNT, page: ({ where, tail }) => `select t.* ${FROM} ${where} ${tail}` },
    parametersOf(input),
    input,
  );
  return { tokens: rows.map(viewOf), ...pages };
};

const OF_BATCH = 'select true as known from enrollment_tokens where tenant_id = $1 and batch_id = $2 limit 1';

/**
 * Ids of tokens that can still enroll a device, oldest first, at most `most`. Fails if no token was ever issued in the
 * batch.
 */
export const validEnrollmentTokens: Query<{ batchId: string | undefined; most: number }, string[]> = async (
  reads,
  { batchId, most },
) => {
  if (batchId !== undefined && !(await reads.one(OF_BATCH, [batchId])))
    return notFoundIn('batchId', 'a batch of enrollment tokens');
  const rows = await reads.rows<{ token_id: string }>(VALID, [...parametersOf({ status: 'valid', batchId }), most]);
  return rows.map(({ token_id: tokenId }) => tokenId);
};
