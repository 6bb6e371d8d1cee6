import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { extensionWatch, extensionWatchStream } from '../../src/contexts/extensions/domain/extension-watch.ts';
import { extensionMonitoringSettings } from '../../src/contexts/extensions/domain/monitoring-settings.resource.ts';
import type { ExtensionWatchEvent } from '../../src/contexts/extensions/domain/watch-events.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

type Changed = Extract<ExtensionWatchEvent, { type: 'ExtensionPermissionsChanged' }>['data'];
interface RecordPermissionChange extends Omit<Changed, 'severity' | 'browserType' | 'change'> {
  /** All changes must fit into one append. */
  readonly changes: readonly Changed['change'][];
}

/**
 * Records that extensions changed their permissions, if the tenant has turned this alert on: one event per change, one
 * append per report.
 */
export const recordPermissionChange = defineCommand({
  name: 'RecordPermissionChange',
  aggregate: extensionWatch,
  stream: ({ deviceId }: RecordPermissionChange, { tenantId }) => extensionWatchStream(tenantId, deviceId),
  prepare: async (
    { deviceId }: RecordPermissionChange,
    { aggregates }: { aggregates: AggregateReader },
    { tenantId },
  ) => {
    const { enabled, alertOnPermissionChange, alertSeverity } = (
      await aggregates.load(extensionMonitoringSettings.aggregate, extensionMonitoringSettings.stream(tenantId))
    ).values;
    const { browserType } = await aggregates.load(device, deviceStream(tenantId, deviceId));
    return { isWanted: enabled && alertOnPermissionChange, severity: alertSeverity, browserType };
  },
  decide(state, { changes, ...judged }, _context, { isWanted, severity, browserType }) {
    if (!isWanted) return accept([]);
    const known = new Set(state.changes);
    const fresh = changes.filter(({ observationId }) => !known.has(observationId));
    return accept(
      fresh.map((change) => ({
        type: 'ExtensionPermissionsChanged',
        data: { ...judged, severity, browserType, change },
      })),
    );
  },
});
