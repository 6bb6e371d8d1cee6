import { z } from 'zod';
import type { DeviceExtensionsRow } from '../../projections/devices/device-extensions.ts';
import { notFound } from '../../src/kernel/failure.ts';
import type { Query } from '../../src/kernel/query.ts';
import { EXTENSION_WHITELIST, recordsAt } from '../../src/resources/records-at.ts';

/** Choice OP-103. */
export const extensionOnDeviceView = z.object({
  extensionId: z.string(),
  name: z.string(),
  version: z.string(),
  publisher: z.string().nullable(),
  permissions: z.array(z.string()),
  isEnabled: z.boolean(),
  isWhitelisted: z.boolean(),
  installedAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
});
export type ExtensionOnDeviceView = z.output<typeof extensionOnDeviceView>;

const SQL = `
  select x.extensions, d.browser_type from devices d left join device_extensions x on x.tenant_id = d.tenant_id and x.device_id = d.device_id
   where d.tenant_id = $1 and d.device_id = $2`;

interface Found {
  readonly extensions: DeviceExtensionsRow['extensions'] | null;
  readonly browser_type: string | null;
}

/** What is installed in the browser, as it last said, and whether the tenant allows it in this kind of browser. */
export const extensionsOnDevice: Query<{ deviceId: string }, { extensions: ExtensionOnDeviceView[]; total: number }> = async (reads, { deviceId }) => {
  const [row, allowed] = await Promise.all([reads.one<Found>(SQL, [deviceId]), recordsAt(EXTENSION_WHITELIST, reads)]);
  if (!row) return notFound();
  const here = allowed.filter(({ browserType }) => (browserType ?? row.browser_type) === row.browser_type);
  const whitelisted = new Set(here.map((entry) => entry['extensionId']));
  const extensions = (row.extensions?.list ?? []).map((one): ExtensionOnDeviceView => ({ ...one, permissions: [...one.permissions], isWhitelisted: whitelisted.has(one.extensionId) }));
  return { extensions, total: extensions.length };
};
