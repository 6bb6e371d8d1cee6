import { deviceEvents } from '../../src/contexts/devices/domain/events.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { rankOf, riskOf } from '../../src/contexts/extensions/domain/permission-risk.ts';
import {
  byStamp,
  sightingsIn,
  type ReportedAttributes,
  type ExtensionSighting,
} from '../../src/contexts/extensions/domain/sightings.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import {
  defineReadModel,
  flag,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

type AttributeName = keyof ReportedAttributes;

const columns = {
  device_id: id,
  user_id: id,
  extension_id: text,
  name: text,
  version: text,
  publisher: nullable(text),
  permissions: json<readonly string[]>(),
  /** Rank of the risk of these permissions. */
  risk: integer,
  is_enabled: flag,
  is_removed: flag,
  /** Stamp of the report that determined `is_removed`. */
  told: text,
  /** For each column, the stamp of its report. */
  stamps: json<Readonly<Partial<Record<AttributeName, string>>>>(),
  /** Null while only its removal was reported. */
  first_seen_at: nullable(timestamp),
  last_seen_at: nullable(timestamp),
};
export type InstalledExtensionRow = Row<{ columns: typeof columns }>;

/**
 * The reported state of each extension in each browser. Every column comes from the latest report that contains it, so
 * the rows do not depend on the order of reports. Which extensions are installed now is computed with the browser's
 * latest inventory and the device (`queries/extensions/current-installations.ts`).
 */
export const installedExtensions = defineReadModel({
  name: 'installed_extensions',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['device_id', 'user_id', 'extension_id'],
  indexes: [['extension_id'], ['user_id']],
  families: [telemetryEvents, deviceEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { deviceId, userId, observations } }) =>
      byStamp(observations)
        .flatMap(sightingsIn)
        .map((sighting) => {
          const key = { device_id: deviceId, user_id: userId, extension_id: sighting.extensionId };
          return { key, fold: (row: InstalledExtensionRow | undefined) => seenAgain(row ?? neverSeen(key), sighting) };
        }),
    DeviceDeleted: ({ data: { deviceId } }) => ({ purge: { device_id: deviceId } }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});

const neverSeen = (
  key: Pick<InstalledExtensionRow, 'device_id' | 'user_id' | 'extension_id'>,
): InstalledExtensionRow => ({
  ...key,
  name: key.extension_id,
  version: '',
  publisher: null,
  permissions: [],
  risk: 0,
  is_enabled: true,
  is_removed: false,
  told: '',
  stamps: {},
  first_seen_at: null,
  last_seen_at: null,
});

function seenAgain(row: InstalledExtensionRow, { stamp, occurredAt, says }: ExtensionSighting): InstalledExtensionRow {
  const updated = (Object.keys(says) as AttributeName[]).filter((name) => stamp > (row.stamps[name] ?? ''));
  const newer = <Value>(name: AttributeName, reported: Value | undefined, known: Value): Value =>
    reported !== undefined && updated.includes(name) ? reported : known;
  const permissions = newer('permissions', says.permissions, row.permissions);
  return {
    ...row,
    name: newer('name', says.name, row.name),
    version: newer('version', says.version, row.version),
    publisher: newer('publisher', says.publisher, row.publisher),
    permissions,
    risk: permissions === row.permissions ? row.risk : rankOf(riskOf(permissions)),
    is_enabled: newer('isEnabled', says.isEnabled, row.is_enabled),
    is_removed: newer('isRemoved', says.isRemoved, row.is_removed),
    told: newer('isRemoved', stamp, row.told),
    stamps: { ...row.stamps, ...Object.fromEntries(updated.map((name) => [name, stamp])) },
    ...(says.isRemoved ? {} : seenAt(row, occurredAt)),
  };
}

const seenAt = ({ first_seen_at: first, last_seen_at: last }: InstalledExtensionRow, at: string) => ({
  first_seen_at: first !== null && first < at ? first : at,
  last_seen_at: last !== null && last > at ? last : at,
});
