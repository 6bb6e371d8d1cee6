import { z } from 'zod';
import { retryDelivery } from '../../../../../commands/notifications/retry-delivery.ts';
import {
  deliveryOrder,
  deliveryView,
  deliveryWithAttempts,
  getDelivery,
  listDeliveries,
} from '../../../../../queries/notifications/delivery-view.ts';
import { intervalOf } from '../../../../../queries/settings/interval.ts';
import { deliveryStates } from '../../../../contexts/notifications/domain/delivery.ts';
import { channelNameSchema } from '../../../../contexts/notifications/domain/message.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { dateRangeQuery, orderedRange, toPage } from '../../list-query.ts';
import { route, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/alert-notifications/deliveries';
const params = z.object({ deliveryId: uuid() });

/** What left the installation, and what is still to leave. */
export const deliveryRoutes: RouteGroup = {
  area: 'alert-notifications',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('notifications:read'),
      summary: 'List deliveries',
      operation: 'listDeliveries',
      description:
        'One for each message and recipient, newest first. `pending` will be tried again at `nextAttemptAt`; `exhausted` was tried for three days; `refused` would fail again; `held_back` is part of a digest. Counting stops at 10,000.',
      query: z
        .object({
          ...keysetQuery(deliveryOrder),
          ...dateRangeQuery,
          channel: channelNameSchema.optional(),
          state: z.enum(deliveryStates).optional(),
          alertId: uuid().optional(),
        })
        .check(orderedRange),
      response: z.object({ deliveries: z.array(deliveryView), ...keysetView }),
      handle: async ({ ask, query }) => {
        const { channel, state, alertId } = query;
        const filter = { channel, state, alertId, ...(await ask(intervalOf, query)) };
        return withNextMark(deliveryOrder, await ask(listDeliveries, { ...toPage(query), ...filter }));
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{deliveryId}`,
      access: admin('notifications:read'),
      summary: 'Get a delivery',
      operation: 'getDelivery',
      description: 'With its latest 200 attempts, oldest first.',
      params,
      response: deliveryWithAttempts,
      handle: ({ ask, params: { deliveryId } }) => ask(getDelivery, { deliveryId }),
    }),
    route({
      method: 'POST',
      path: `${base}/{deliveryId}/retry`,
      access: admin('notifications:write'),
      summary: 'Retry a delivery',
      operation: 'retryDelivery',
      description:
        'Begins another round of attempts now, with the same message id. 409 unless the delivery is `exhausted` or `refused`.',
      refuses: ['delivery_not_failed'],
      params,
      response: deliveryWithAttempts,
      handle: async ({ run, ask, params: { deliveryId } }) => {
        await run(retryDelivery, { deliveryId });
        return ask(getDelivery, { deliveryId });
      },
    }),
  ],
};
