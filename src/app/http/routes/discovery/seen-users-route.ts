import { z } from 'zod';
import { seenUserView, type SeenUsers } from '../../../../../queries/discovery/seen-users.ts';
import type { KeysetOrder } from '../../../../../queries/keyset.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import type { Page, Query } from '../../../../platform/kernel/query.ts';
import { admin } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { toPage } from '../../list-query.ts';
import { route, type AnyRoute } from '../../route.ts';

interface SeenUsersOf {
  /** The path of the list of hosts. */
  readonly base: string;
  /** The name of the host's path parameter. */
  readonly parameter: string;
  readonly summary: string;
  readonly order: KeysetOrder<SeenUsers['users'][number]>;
  readonly list: Query<{ endpointId: string } & Page, SeenUsers>;
}

/** The list of employees who were seen on a host. */
export const seenUsersRoute = ({ base, parameter, summary, order, list }: SeenUsersOf): AnyRoute =>
  route({
    method: 'GET',
    path: `${base}/{${parameter}}/users`,
    access: admin('endpoints:read'),
    summary,
    description: 'Latest first, 1,000 on a page.',
    params: z.object({ [parameter]: uuid() }),
    query: z.object(keysetQuery(order, { usual: 1_000, max: 1_000 })),
    response: z.object({ users: z.array(seenUserView), ...keysetView }),
    handle: async ({ ask, params, query }) =>
      withNextMark(order, await ask(list, { endpointId: params[parameter]!, ...toPage(query) })),
  });
