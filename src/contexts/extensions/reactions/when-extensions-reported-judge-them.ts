import { judgeExtensions, MAX_REPORTED_EXTENSIONS } from '../../../../commands/extensions/judge-extensions.ts';
import { recordPermissionChange } from '../../../../commands/extensions/record-permission-change.ts';
import { deviceEvents } from '../../devices/domain/events.ts';
import { riskOf } from '../domain/permission-risk.ts';
import { byStamp, sightingsIn, sightingStamp, type ExtensionSighting } from '../domain/sightings.ts';
import type { FoundExtension } from '../domain/watch-events.ts';
import { telemetryEvents, type TelemetryEvent } from '../../telemetry/domain/events.ts';
import type { ObservationOf } from '../../telemetry/domain/observation.ts';
import { inChunks } from '../../telemetry/domain/chunks.ts';
import type { Envelope } from '../../../platform/kernel/event.ts';
import { defineReaction, effect, type Effect } from '../../../platform/kernel/reaction.ts';
import { id, text } from '../../../platform/kernel/read-model.ts';

type TelemetryRecorded = Extract<TelemetryEvent, { type: 'TelemetryRecorded' }> & Envelope;
type Reported = ObservationOf<'extension_inventory' | 'extension_event'>;

/**
 * Issues judgements of the extensions that browsers report. The state is the latest inventory of each device: older
 * reports say nothing about the present. Alerts follow from the judgement, not from this reaction.
 */
export const whenExtensionsReportedJudgeThem = defineReaction({
  name: 'extension-watch',
  lane: 'telemetry',
  families: [telemetryEvents, deviceEvents],
  state: { columns: { device_id: id, inventory: text }, key: ['device_id'] },
  on: {
    TelemetryRecorded: (event) => {
      const reported = byStamp(event.data.observations);
      if (reported.length === 0) return [];
      const { deviceId } = event.data;
      return [
        {
          key: { device_id: deviceId },
          react: (row) => {
            const news = reported.filter((one) => sightingStamp(one) > (row?.inventory ?? ''));
            const inventory = news.findLast(({ kind }) => kind === 'extension_inventory');
            return {
              row: inventory ? { device_id: deviceId, inventory: sightingStamp(inventory) } : row,
              effects: [
                ...(news.length > 0 ? judgements(event, news) : []),
                ...permissionChanges(event, reported.filter(changesPermissions)),
              ],
            };
          },
        },
      ];
    },
    DeviceDeleted: ({ data: { deviceId } }) => [{ purge: { device_id: deviceId } }],
  },
});

const batchOf = ({ id: batchId, data: { deviceId, userId, extensionMode, policyVersion } }: TelemetryRecorded) => ({
  batchId,
  deviceId,
  userId,
  extensionMode,
  policyVersion,
});

/**
 * The extensions in the browser after these reports. One decision reports a limited number of extensions, so the
 * command is issued as often as needed to report all. For an ordinary browser that is once.
 */
function judgements(event: TelemetryRecorded, reports: readonly Reported[]): Effect[] {
  const present = new Map<string, FoundExtension>();
  const gone = new Set<string>();
  for (const report of reports) {
    if (report.kind === 'extension_inventory') {
      present.clear();
      gone.clear();
    }
    for (const sighting of sightingsIn(report)) {
      present.delete(sighting.extensionId);
      gone.delete(sighting.extensionId);
      if (sighting.says.isRemoved) gone.add(sighting.extensionId);
      else present.set(sighting.extensionId, foundIn(sighting));
    }
  }
  const isComplete = reports.some(({ kind }) => kind === 'extension_inventory');
  const judgement = effect(judgeExtensions, {
    ...batchOf(event),
    present: [...present.values()],
    gone: [...gone],
    isComplete,
  });
  return Array.from({ length: Math.max(1, Math.ceil(present.size / MAX_REPORTED_EXTENSIONS)) }, () => judgement);
}

const foundIn = ({
  extensionId,
  observationId,
  occurredAt,
  says: { name, version, publisher, permissions },
}: ExtensionSighting): FoundExtension => ({
  extensionId,
  name: name ?? extensionId,
  version: version ?? null,
  publisher: publisher ?? null,
  riskLevel: permissions ? riskOf(permissions) : null,
  observationId,
  occurredAt,
});

const changesPermissions = (report: Reported): report is ObservationOf<'extension_event'> =>
  report.kind === 'extension_event' && report.change === 'permissions_changed';

/** Lists of permissions may be long; the rest of an event is some hundred bytes per change. */
const ONE_APPEND = { bytes: 400 * 1024, items: 100 };

function permissionChanges(event: TelemetryRecorded, reports: readonly ObservationOf<'extension_event'>[]): Effect[] {
  const changes = reports.flatMap((report) =>
    sightingsIn(report).map((sighting) => ({ ...foundIn(sighting), permissions: [...(report.permissions ?? [])] })),
  );
  return inChunks(changes, ONE_APPEND).map((portion) =>
    effect(recordPermissionChange, { ...batchOf(event), changes: portion }),
  );
}
