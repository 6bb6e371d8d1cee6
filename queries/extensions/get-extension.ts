import { z } from 'zod';
import { compareVersions } from '../../src/contexts/extensions/domain/version-order.ts';
import { browserTypes } from '../../src/contexts/devices/domain/events.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { byBrowser, selectFleet, installationsOf, isListed } from './current-installations.ts';
import {
  inventoryItemView,
  toInventoryItem,
  variantsOf,
  type FleetRow,
  type InstalledVariant,
} from './inventory-item.ts';

const onDevice = z.object({
  deviceId: z.uuid(),
  hostname: z.string().nullable(),
  browserType: z.enum(browserTypes).nullable(),
  userId: z.uuid(),
  userEmail: z.string().nullable(),
  version: z.string(),
  isEnabled: z.boolean(),
  isWhitelisted: z.boolean(),
  firstSeenAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
});

/** One extension with its browsers (at most 500, latest activity first) and its versions, newest first. */
export const extensionView = inventoryItemView
  .extend({ devices: z.array(onDevice), versions: z.array(z.object({ version: z.string(), installCount: z.int() })) })
  .meta({ title: 'ExtensionDetail' });
export type ExtensionView = z.output<typeof extensionView>;

const MAX_DEVICES = 500;
const IT = installationsOf('x.extension_id = $2');
const ONE = selectFleet(byBrowser({ from: IT }));
const DEVICES = `
  select n.device_id as "deviceId", n.hostname, n.browser_type as "browserType", n.user_id as "userId", e.email as "userEmail", n.version,
         n.is_enabled as "isEnabled", ${isListed('n')} as "isWhitelisted", n.first_seen_at as "firstSeenAt", n.last_seen_at as "lastSeenAt"
    from ${IT} n
    left join employees e on e.tenant_id = $1 and e.user_id = n.user_id
   order by n.last_seen_at desc, n.device_id limit ${MAX_DEVICES}`;

/** Not found if no browser has the extension now. */
export const getExtension: Query<{ extensionId: string }, ExtensionView> = async (reads, { extensionId }) => {
  const [row, variants, devices] = await Promise.all([
    reads.figures<FleetRow>(ONE, [extensionId]),
    variantsOf(reads, [extensionId]),
    reads.rows<ExtensionView['devices'][number]>(DEVICES, [extensionId]),
  ]);
  if (!row) return notFound();
  const known = variants.get(extensionId) ?? [];
  return { ...toInventoryItem(row, known), devices, versions: versionsOf(known) };
};

function versionsOf(variants: readonly InstalledVariant[]): ExtensionView['versions'] {
  const counts = new Map<string, number>();
  for (const { version, install_count } of variants) counts.set(version, (counts.get(version) ?? 0) + install_count);
  return [...counts]
    .map(([version, installCount]) => ({ version, installCount }))
    .sort((a, b) => compareVersions(b.version, a.version));
}
