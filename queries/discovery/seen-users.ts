import { z } from 'zod';
import type { Query } from '../../src/platform/kernel/query.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';
import { endpointHost } from './get-endpoint.ts';
import { authEndpointHost } from './get-auth-endpoint.ts';

/** Choice OP-095. */
export const seenUserView = z.object({
  id: z.uuid(),
  email: z.string(),
  displayName: z.string(),
  lastSeenAt: z.iso.datetime(),
  eventCount: z.int(),
});
export type SeenUser = z.output<typeof seenUserView>;
type SeenUsers = { users: SeenUser[]; total: number };

/** Maximum number of listed users, latest first; the total counts all. */
const MAX_USERS = 1_000;

const PEOPLE = `
  select u.user_id as id, e.email, e.display_name as "displayName", u.last_seen_at as "lastSeenAt", u.event_count as "eventCount", count(*) over ()::int as total
    from endpoint_users u join employees e on e.tenant_id = $1 and e.user_id = u.user_id
   where u.tenant_id = $1 and u.domain = $2 order by u.last_seen_at desc, u.user_id limit ${MAX_USERS}`;
const SIGNED_IN = PEOPLE.replaceAll('u.last_seen_at', 'u.last_sign_in_at')
  .replace('u.event_count', 'u.sign_ins')
  .replace('u.domain = $2', 'u.domain = $2 and u.signs_in');

const seen =
  (hostOf: Query<{ endpointId: string }, string>, sql: string): Query<{ endpointId: string }, SeenUsers> =>
  async (reads, input) => {
    const host = await hostOf(reads, input);
    if (isFailure(host)) return host;
    const rows = await reads.rows<SeenUser & { total: number }>(sql, [host]);
    return {
      users: rows.map(({ id, email, displayName, lastSeenAt, eventCount }) => ({
        id,
        email,
        displayName,
        lastSeenAt,
        eventCount,
      })),
      total: rows[0]?.total ?? 0,
    };
  };

/** Employees seen on a host, latest first. */
export const listEndpointUsers = seen(endpointHost, PEOPLE);
/** Employees seen signing in on a host, latest first. Counts only their sign-ins. */
export const listAuthEndpointUsers = seen(
  (reads, { endpointId }) => authEndpointHost(reads, { authEndpointId: endpointId }),
  SIGNED_IN,
);
