import { z } from 'zod';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';
import { endpointHost } from './get-endpoint.ts';
import { ascending, descending, listPage, type KeysetOrder, type PageClauses } from '../keyset.ts';
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
export type SeenUsers = { users: SeenUser[] } & KeysetPaginated;

interface SeenList {
  readonly order: KeysetOrder<SeenUser>;
  readonly count: string;
  readonly page: (clauses: PageClauses) => string;
}

function listOf(list: string, { seenAt, events, where }: Record<'seenAt' | 'events' | 'where', string>): SeenList {
  const from = `from endpoint_users u join employees e on e.tenant_id = $1 and e.user_id = u.user_id where u.tenant_id = $1 and u.domain = $2${where}`;
  return {
    order: {
      list,
      columns: [descending(seenAt, 'timestamptz'), ascending('u.user_id', 'uuid')],
      valuesOf: ({ lastSeenAt, id }) => [lastSeenAt, id],
    },
    count: `select count(*)::int as total ${from}`,
    page: ({ where: beyond, tail }) =>
      `select u.user_id as id, e.email, e.display_name as "displayName", ${seenAt} as "lastSeenAt", ${events} as "eventCount" ${from} ${beyond} ${tail}`,
  };
}

const SEEN = listOf('endpoint-users', { seenAt: 'u.last_seen_at', events: 'u.event_count', where: '' });
const SIGNED_IN = listOf('auth-endpoint-users', {
  seenAt: 'u.last_sign_in_at',
  events: 'u.sign_ins',
  where: ' and u.signs_in',
});
export const endpointUserOrder = SEEN.order;
export const authEndpointUserOrder = SIGNED_IN.order;

const seen =
  (hostOf: Query<{ endpointId: string }, string>, list: SeenList): Query<{ endpointId: string } & Page, SeenUsers> =>
  async (reads, input) => {
    const host = await hostOf(reads, input);
    if (isFailure(host)) return host;
    const { rows, ...pages } = await listPage(reads, list, [host], input);
    return { users: rows, ...pages };
  };

/** Employees seen on a host, latest first. */
export const listEndpointUsers = seen(endpointHost, SEEN);
/** Employees seen signing in on a host, latest first. Counts only their sign-ins. */
export const listAuthEndpointUsers = seen(
  (reads, { endpointId }) => authEndpointHost(reads, { authEndpointId: endpointId }),
  SIGNED_IN,
);
