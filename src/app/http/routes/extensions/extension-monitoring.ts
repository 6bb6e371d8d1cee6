import { z } from 'zod';
import { extensionView, getExtension } from '../../../../../queries/extensions/get-extension.ts';
import {
  inventoryAggregates,
  inventoryAggregatesView,
} from '../../../../../queries/extensions/inventory-aggregates.ts';
import { inventoryItemView } from '../../../../../queries/extensions/inventory-item.ts';
import { inventoryStats, inventoryStatsView } from '../../../../../queries/extensions/inventory-stats.ts';
import {
  extensionChangeOrder,
  extensionChangeView,
  listExtensionChanges,
} from '../../../../../queries/extensions/list-extension-changes.ts';
import { inventoryOrder, listInventory } from '../../../../../queries/extensions/list-inventory.ts';
import { reportedExtension } from '../../../../../queries/extensions/reported-extension.ts';
import { intervalOf } from '../../../../../queries/settings/interval.ts';
import { browserTypes } from '../../../../contexts/devices/domain/events.ts';
import { riskLevels } from '../../../../contexts/extensions/domain/permission-risk.ts';
import {
  allowedExtension,
  extensionWhitelist,
} from '../../../../contexts/extensions/domain/whitelist-entry.resource.ts';
import { extensionChangeKinds } from '../../../../contexts/telemetry/domain/vocabulary.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { createdRecord } from '../../resources/collection-routes.ts';
import { admin } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { dateRangeQuery, orderedRange, toPage } from '../../list-query.ts';
import { truthText } from '../../query-types.ts';
import { route, type HandlerContext, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/extension-monitoring';
const read = admin('extension-monitoring:read');

/** The identifier of an extension store (choice OP-197), with the limits of telemetry. */
const storeId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');
const search = z
  .string()
  .max(200)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters')
  .transform((text) => text.trim() || undefined);
const filters = {
  search: search.optional(),
  risk_level: z.enum(riskLevels).optional(),
  browser_type: z.enum(browserTypes).optional(),
};
const inventoryQuery = z.object({ ...keysetQuery(inventoryOrder), ...filters });
const inventoryView = z.object({ extensions: z.array(inventoryItemView), ...keysetView });

type AskingForInventory = Pick<HandlerContext<unknown, z.output<typeof inventoryQuery>, unknown>, 'ask' | 'query'>;

async function inventoryOf({ ask, query }: AskingForInventory, isWhitelisted: boolean | undefined) {
  const { search, risk_level: riskLevel, browser_type: browserType } = query;
  const filter = { search, riskLevel, browserType, isWhitelisted };
  return withNextMark(inventoryOrder, await ask(listInventory, { ...toPage(query), ...filter }));
}

/** Browser extensions of the fleet (interface, "Extension monitoring"). Settings and whitelist are declared resources. */
export const extensionMonitoringRoutes: RouteGroup = {
  area: 'extension-monitoring',
  routes: [
    route({
      method: 'POST',
      path: `${base}/whitelist/quick-add`,
      access: admin('extension-monitoring:whitelist'),
      summary: 'Add an extension of the inventory to the whitelist',
      operation: 'quickAddToExtensionWhitelist',
      refuses: ['already_exists', 'not_found'],
      description: 'Allows it in every kind of browser. Name and publisher are taken from the inventory.',
      body: z.object({
        extensionId: allowedExtension,
        reason: z.string().max(2_000).optional(),
      }),
      status: 201,
      response: extensionWhitelist.view,
      handle: async (call) => {
        const reported = await call.ask(reportedExtension, { extensionId: call.body.extensionId });
        return createdRecord(extensionWhitelist, call, {
          ...reported,
          browserType: null,
          reason: call.body.reason ?? '',
        });
      },
    }),
    route({
      method: 'GET',
      path: `${base}/inventory`,
      access: read,
      summary: 'List the extensions of the fleet',
      operation: 'listExtensionInventory',
      description: 'Extensions that are installed now, latest first appearance first.',
      query: inventoryQuery.extend({ is_whitelisted: truthText().optional() }),
      response: inventoryView,
      handle: (call) => inventoryOf(call, call.query.is_whitelisted),
    }),
    route({
      method: 'GET',
      path: `${base}/inventory/stats`,
      access: read,
      summary: 'Count extensions, and browsers with extensions',
      operation: 'countExtensions',
      response: inventoryStatsView,
      handle: ({ ask }) => ask(inventoryStats, undefined),
    }),
    route({
      method: 'GET',
      path: `${base}/inventory/unwhitelisted`,
      access: read,
      summary: 'List extensions outside the whitelist',
      operation: 'listUnwhitelistedExtensions',
      description: 'Extensions that the whitelist does not allow in every browser that has them.',
      query: inventoryQuery,
      response: inventoryView,
      handle: (call) => inventoryOf(call, false),
    }),
    route({
      method: 'GET',
      path: `${base}/inventory/aggregates`,
      access: read,
      summary: 'Count extensions by browser, risk and permission',
      operation: 'countExtensionsByProperty',
      response: inventoryAggregatesView,
      handle: ({ ask }) => ask(inventoryAggregates, undefined),
    }),
    route({
      method: 'GET',
      path: `${base}/events`,
      access: read,
      summary: 'List changes of extensions',
      description: 'Latest first. `total` counts up to 10,000: from there on, `totalIsLowerBound` is true.',
      query: z
        .object({
          ...keysetQuery(extensionChangeOrder),
          ...dateRangeQuery,
          extension_id: storeId.optional(),
          change: z.enum(extensionChangeKinds).optional(),
          device_id: uuid().optional(),
          user_id: uuid().optional(),
        })
        .check(orderedRange),
      response: z.object({ events: z.array(extensionChangeView), ...keysetView }),
      handle: async ({ ask, query }) => {
        const { extension_id: extensionId, change, device_id: deviceId, user_id: userId } = query;
        const filter = { extensionId, change, deviceId, userId, ...(await ask(intervalOf, query)) };
        return withNextMark(extensionChangeOrder, await ask(listExtensionChanges, { ...toPage(query), ...filter }));
      },
    }),
    route({
      method: 'GET',
      path: `${base}/extension/{extensionID}`,
      access: read,
      summary: 'Get an extension',
      description: 'With its versions and the browsers that have it (at most 500).',
      params: z.object({ extensionID: storeId }),
      response: extensionView,
      handle: ({ ask, params: { extensionID } }) => ask(getExtension, { extensionId: extensionID }),
    }),
  ],
};
