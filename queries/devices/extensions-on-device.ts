import { z } from 'zod';
import type { DeviceExtensionsRow } from '../../projections/devices/device-extensions.ts';
import { notFound } from '../../src/kernel/failure.ts';
import type { Query } from '../../src/kernel/query.ts';

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
  select x.extensions from devices d left join device_extensions x on x.tenant_id = d.tenant_id and x.device_id = d.device_id
   where d.tenant_id = $1 and d.device_id = $2`;

/** What is installed in the browser, as it last said. `isWhitelisted`: whether the tenant allows this extension. */
export const extensionsOnDevice: Query<{ deviceId: string; isWhitelisted: (extensionId: string) => boolean }, { extensions: ExtensionOnDeviceView[]; total: number }> = async (reads, { deviceId, isWhitelisted }) => {
  const row = await reads.one<{ extensions: DeviceExtensionsRow['extensions'] | null }>(SQL, [deviceId]);
  if (!row) return notFound();
  const extensions = (row.extensions?.list ?? []).map((one): ExtensionOnDeviceView => ({ ...one, permissions: [...one.permissions], isWhitelisted: isWhitelisted(one.extensionId) }));
  return { extensions, total: extensions.length };
};
