import { z } from 'zod';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { installedOn, isListed } from '../extensions/current-installations.ts';

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

const DEVICE = 'select 1 as known from devices where tenant_id = $1 and device_id = $2';
const SQL = `
  select n.extension_id as "extensionId", n.name, n.version, n.publisher, n.permissions, n.is_enabled as "isEnabled", ${isListed('n')} as "isWhitelisted",
         n.first_seen_at as "installedAt", n.last_seen_at as "lastSeenAt"
    from ${installedOn('d.device_id = $2')} n
   order by n.extension_id collate "C"`;

/**
 * The extensions of the browser as last reported, also for revoked and wiped devices, and whether the whitelist allows
 * each in this kind of browser.
 */
export const extensionsOnDevice: Query<
  { deviceId: string },
  { extensions: ExtensionOnDeviceView[]; total: number }
> = async (reads, { deviceId }) => {
  const [device, extensions] = await Promise.all([
    reads.one(DEVICE, [deviceId]),
    reads.rows<ExtensionOnDeviceView>(SQL, [deviceId]),
  ]);
  return device ? { extensions, total: extensions.length } : notFound();
};
