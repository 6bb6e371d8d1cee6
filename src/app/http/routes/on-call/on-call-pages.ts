import { z } from 'zod';
import {
  getPage,
  listPages,
  MAX_PAGE_DELIVERIES,
  pageOrder,
  pageView,
  pageWithReceipts,
} from '../../../../../queries/on-call/page-view.ts';
import { intervalOf } from '../../../../../queries/settings/interval.ts';
import { pageStates } from '../../../../contexts/on-call/domain/page-status.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { dateRangeQuery, orderedRange, toPage } from '../../list-query.ts';
import { route, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/on-call/pages';

/** Who was called about which alert (OP-499 to OP-505). */
export const onCallPageRoutes: RouteGroup = {
  area: 'on-call',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('on-call:read'),
      summary: 'List pages',
      description:
        'One for each alert and schedule that escalates, newest first, with everybody who was called. `paged` and `escalated` wait for an answer until `nextStepAt`; `acknowledged` was answered; `exhausted` has nobody left to call; `withdrawn` is about an erased person. Counting stops at 10,000.',
      query: z
        .object({
          ...keysetQuery(pageOrder),
          ...dateRangeQuery,
          state: z.enum(pageStates).optional(),
          alertId: uuid().optional(),
          scheduleId: uuid().optional(),
        })
        .check(orderedRange),
      response: z.object({ pages: z.array(pageView), ...keysetView }),
      handle: async ({ ask, query }) => {
        const { state, alertId, scheduleId } = query;
        const filter = { state, alertId, scheduleId, ...(await ask(intervalOf, query)) };
        return withNextMark(pageOrder, await ask(listPages, { ...toPage(query), ...filter }));
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{pageId}`,
      access: admin('on-call:read'),
      summary: 'Get a page',
      description: `With the receipts of its messages, oldest first, at most ${MAX_PAGE_DELIVERIES}.`,
      params: z.object({ pageId: uuid() }),
      response: pageWithReceipts,
      handle: ({ ask, params: { pageId } }) => ask(getPage, { pageId }),
    }),
  ],
};
