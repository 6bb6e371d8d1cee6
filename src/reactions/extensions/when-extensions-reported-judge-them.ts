import { judgeExtensions } from '../../../commands/extensions/judge-extensions.ts';
import { recordPermissionChange } from '../../../commands/extensions/record-permission-change.ts';
import { deviceEvents } from '../../domain/devices/events.ts';
import { riskOf } from '../../domain/extensions/permission-risk.ts';
import { inOrder, sightingsIn, stampOf, type Sighting } from '../../domain/extensions/sightings.ts';
import type { FoundExtension } from '../../domain/extensions/watch-events.ts';
import { telemetryEvents, type TelemetryEvent } from '../../domain/telemetry/events.ts';
import type { ObservationOf } from '../../domain/telemetry/observation.ts';
import type { Envelope } from '../../kernel/event.ts';
import { defineReaction, type Effect } from '../../kernel/reaction.ts';
import { id, text } from '../../kernel/read-model.ts';

type TelemetryRecorded = Extract<TelemetryEvent, { type: 'TelemetryRecorded' }> & Envelope;
type Reported = ObservationOf<'extension_inventory' | 'extension_event'>;

/**
 * Has what browsers report of their extensions judged. It remembers each device's latest inventory: what is older says nothing
 * about what is there now. Alerts follow from the judgement, not from here.
 */
export const whenExtensionsReportedJudgeThem = defineReaction({
  name: 'extension-watch',
  lane: 'telemetry',
  families: [telemetryEvents, deviceEvents],
  state: { version: 1, columns: { device_id: id, inventory: text }, key: ['device_id'] },
  on: {
    TelemetryRecorded: (event) => {
      const reported = inOrder(event.data.observations);
      if (reported.length === 0) return [];
      const { deviceId } = event.data;
      return [
        {
          key: { device_id: deviceId },
          react: (row) => {
            const news = reported.filter((one) => stampOf(one) > (row?.inventory ?? ''));
            const inventory = news.findLast(({ kind }) => kind === 'extension_inventory');
            return {
              row: inventory ? { device_id: deviceId, inventory: stampOf(inventory) } : row,
              effects: [...(news.length > 0 ? [judgement(event, news)] : []), ...reported.filter(changesPermissions).map((one) => permissionChange(event, one))],
            };
          },
        },
      ];
    },
    DeviceDeleted: ({ data: { deviceId } }) => [{ purge: { device_id: deviceId } }],
  },
});

const batchOf = ({ id: batchId, data: { deviceId, userId, extensionMode, policyVersion } }: TelemetryRecorded) => ({ batchId, deviceId, userId, extensionMode, policyVersion });

/** What is in the browser after these reports, as far as they say. */
function judgement(event: TelemetryRecorded, reports: readonly Reported[]): Effect {
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
  return { command: judgeExtensions, input: { ...batchOf(event), present: [...present.values()], gone: [...gone], isComplete } };
}

const foundIn = ({ extensionId, observationId, occurredAt, says: { name, version, publisher, permissions } }: Sighting): FoundExtension => ({
  extensionId,
  name: name ?? extensionId,
  version: version ?? null,
  publisher: publisher ?? null,
  riskLevel: permissions ? riskOf(permissions) : null,
  observationId,
  occurredAt,
});

const changesPermissions = (report: Reported): report is ObservationOf<'extension_event'> => report.kind === 'extension_event' && report.change === 'permissions_changed';

function permissionChange(event: TelemetryRecorded, report: ObservationOf<'extension_event'>): Effect {
  const [sighting] = sightingsIn(report);
  const change = { ...foundIn(sighting!), permissions: [...(report.permissions ?? [])] };
  return { command: recordPermissionChange, input: { ...batchOf(event), change } };
}
