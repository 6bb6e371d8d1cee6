import type { Query } from '../../src/platform/kernel/query.ts';

interface Leaver {
  readonly userId: string;
  /** ISO 8601. What ended since then belongs to the offboarding, regardless of the cause. */
  readonly since: string;
}

const listed =
  (sql: string): Query<Leaver, readonly string[]> =>
  async (reads, { userId, since }) =>
    (await reads.rows<{ id: string }>(sql, [userId, since])).map(({ id }) => id);

/**
 * Devices that can still connect. One with an undelivered wipe is left to its wipe, which nothing but its heartbeat
 * gets.
 */
export const devicesOfLeaver = listed(`
  select device_id as id from devices
   where tenant_id = $1 and user_id = $2
     and (status = 'active' or (status = 'wipe_pending' and wipe_delivered_at is not null) or revoked_at >= $3::timestamptz)
   order by device_id`);

export const unblockKeysOfLeaver = listed(`
  select unblock_key_id as id from unblock_keys
   where tenant_id = $1 and person_id = $2 and used_at is null and expires_at > $3::timestamptz
     and (revoked_at is null or revoked_at >= $3::timestamptz)
   order by unblock_key_id`);

export const enrollmentTokensOfLeaver = listed(`
  select token_id as id from enrollment_tokens
   where tenant_id = $1 and user_id = $2 and used_at is null and expires_at > $3::timestamptz
     and (revoked_at is null or revoked_at >= $3::timestamptz)
   order by token_id`);
