import { z } from 'zod';
import { browserTypes } from '../../src/contexts/devices/domain/events.ts';
import { newestFirst } from '../../src/contexts/updates/domain/software-version.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Choice OP-208. */
export const extensionVersionView = z.object({
  version: z.string(),
  browserType: z.enum(browserTypes).nullable().describe('Null: the device did not say'),
  deviceCount: z.int(),
  isLatest: z.boolean().describe('The newest version that any device with this browser reported'),
});
type ExtensionVersionView = z.output<typeof extensionVersionView>;

/** Devices report their version themselves, so a hostile one could make many. */
export const MAX_EXTENSION_VERSIONS = 500;

/** Devices that ended (revoked, wiped) run no extension of ours. The most common versions remain if there are too many. */
const COUNTED = `
  select extension_version as version, browser_type as "browserType", count(*)::int as "deviceCount"
    from devices
   where tenant_id = $1 and extension_version is not null and status in ('active', 'wipe_pending')
   group by extension_version, browser_type
   order by count(*) desc, extension_version limit ${MAX_EXTENSION_VERSIONS}`;

type CountedVersion = Omit<ExtensionVersionView, 'isLatest'>;

/** By browser, newest first. */
export const extensionVersions: Query<undefined, { versions: ExtensionVersionView[]; total: number }> = async (
  reads,
) => {
  const counted = await reads.rows<CountedVersion>(COUNTED);
  const sorted = counted.toSorted(
    (one, other) =>
      (one.browserType ?? '').localeCompare(other.browserType ?? '') || newestFirst(one.version, other.version),
  );
  const versions = sorted.map((one, at) => ({ ...one, isLatest: sorted[at - 1]?.browserType !== one.browserType }));
  return { versions, total: versions.length };
};
