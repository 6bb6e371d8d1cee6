import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extensionChanges } from '../../../projections/extensions/extension-changes.ts';
import {
  extensionInventories,
  type ExtensionInventoryRow,
} from '../../../projections/extensions/extension-inventories.ts';
import {
  installedExtensions,
  type InstalledExtensionRow,
} from '../../../projections/extensions/installed-extensions.ts';
import type { DeviceEvent } from '../../../src/contexts/devices/domain/events.ts';
import type { EmployeeEvent } from '../../../src/contexts/employees/domain/events.ts';
import { rankOf, riskOf } from '../../../src/contexts/extensions/domain/permission-risk.ts';
import { isThere, sightingStamp } from '../../../src/contexts/extensions/domain/sightings.ts';
import { extensionChangeKinds as changes } from '../../../src/contexts/telemetry/domain/vocabulary.ts';
import type { ObservationOf } from '../../../src/contexts/telemetry/domain/observation.ts';
import { NOW, recorded, rowsAfter } from '../../dsl/given.ts';
import { DEVICE, telemetry, USER } from '../../dsl/observations.ts';

type Reported = ObservationOf<'extension_inventory' | 'extension_event'>;
interface Report {
  readonly deviceId: string;
  readonly observation: Reported;
}

const OTHER = '44444444-4444-4444-8444-444444444445';
const at = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();
let made = 0;
const eventId = () => `00000000-0000-4000-9000-${String((made += 1)).padStart(12, '0')}`;
const installed = (extensionId: string, over: object = {}) => ({
  extensionId,
  name: extensionId.toUpperCase(),
  version: '1.0',
  publisher: 'Acme',
  permissions: ['tabs'],
  isEnabled: true,
  ...over,
});
const inventory = (minutes: number, ...extensions: ReturnType<typeof installed>[]): Reported => ({
  kind: 'extension_inventory',
  eventId: eventId(),
  occurredAt: at(minutes),
  domain: null,
  url: null,
  extensions,
});
const change = (minutes: number, extensionId: string, over: Partial<ObservationOf<'extension_event'>>): Reported => ({
  kind: 'extension_event',
  eventId: eventId(),
  occurredAt: at(minutes),
  domain: null,
  url: null,
  extensionId,
  change: 'updated',
  name: null,
  version: null,
  permissions: null,
  ...over,
});

/** The log after these reports, in this order, with this many per batch. */
const logOf = (reports: readonly Report[], size = 1) => {
  const events = [];
  for (let from = 0; from < reports.length; from += size) {
    const some = reports.slice(from, from + size);
    for (const deviceId of new Set(some.map((report) => report.deviceId))) {
      const observations = some.filter((report) => report.deviceId === deviceId).map(({ observation }) => observation);
      events.push(recorded(telemetry(observations, { deviceId }), events.length + 1));
    }
  }
  return events;
};

type Installed = InstalledExtensionRow & { readonly tenant_id?: string };
/** Who has which extension now, from the rows as the query reads them. */
function there(log: ReturnType<typeof logOf>): Installed[] {
  const inventories = new Map(
    (rowsAfter(extensionInventories, log) as unknown as ExtensionInventoryRow[]).map((row) => [
      row.device_id,
      row.stamp,
    ]),
  );
  const rows = rowsAfter(installedExtensions, log) as unknown as Installed[];
  return rows.filter((row) => isThere({ told: row.told, isRemoved: row.is_removed }, inventories.get(row.device_id)));
}

const of = (...observations: Reported[]): Report[] =>
  observations.map((observation) => ({ deviceId: DEVICE, observation }));

describe('installed extensions', () => {
  it('are the latest inventory plus later changes', () => {
    const rows = there(
      logOf(
        of(
          inventory(0, installed('a'), installed('b'), installed('c')),
          change(1, 'b', { change: 'removed' }),
          inventory(-5, installed('z')),
          change(2, 'd', { change: 'installed', name: 'New', version: '2', permissions: ['cookies'] }),
        ),
      ),
    );
    expect(rows.map(({ extension_id, name, version, risk }) => [extension_id, name, version, risk])).toEqual([
      ['a', 'A', '1.0', 1],
      ['c', 'C', '1.0', 1],
      ['d', 'New', '2', 2],
    ]);
  });

  it('keep entries that a change does not mention, and the times of the first and last report', () => {
    const [row] = there(
      logOf(
        of(
          inventory(0, installed('a')),
          change(7, 'a', { change: 'disabled' }),
          change(3, 'a', { version: '1.1', permissions: ['tabs', 'proxy'] }),
        ),
      ),
    );
    expect(row).toMatchObject({
      name: 'A',
      publisher: 'Acme',
      version: '1.1',
      permissions: ['tabs', 'proxy'],
      risk: 2,
      is_enabled: false,
      first_seen_at: at(0),
      last_seen_at: at(7),
    });
  });

  it('return after a removal, and stay removed when an older report arrives late', () => {
    const reports = of(inventory(0, installed('a')), change(5, 'a', { change: 'removed' }));
    expect(
      there(logOf([...reports, ...of(change(3, 'a', { change: 'enabled' }), inventory(4, installed('a')))])),
    ).toEqual([]);
    expect(there(logOf([...reports, ...of(change(6, 'a', { change: 'installed' }))]))).toHaveLength(1);
  });

  it('are empty once the device is deleted or its person erased', () => {
    const log = logOf([
      ...of(inventory(0, installed('a'))),
      { deviceId: OTHER, observation: inventory(0, installed('a')) },
    ]);
    const left = (event: DeviceEvent | EmployeeEvent) =>
      [installedExtensions, extensionInventories].map((model) => rowsAfter(model, [...log, recorded(event, 9)]).length);
    expect(left({ type: 'DeviceDeleted', data: { deviceId: OTHER } })).toEqual([1, 1]);
    expect(left({ type: 'EmployeeErased', data: { userId: USER } })).toEqual([0, 0]);
  });
});

const IDS = ['a', 'b', 'c', 'd'];
const someInstalled = fc
  .record({
    extensionId: fc.constantFrom(...IDS),
    version: fc.constantFrom('1.9', '1.10', '2.0'),
    permissions: fc.subarray(['storage', 'tabs', 'cookies']),
    publisher: fc.constantFrom('Acme', null),
    isEnabled: fc.boolean(),
  })
  .map((one) => installed(one.extensionId, one));
const someChange = fc.record({
  extensionId: fc.constantFrom(...IDS),
  change: fc.constantFrom(...changes),
  version: fc.constantFrom(null, '3.0'),
  permissions: fc.constantFrom<string[] | null>(null, ['proxy'], []),
});
// Few distinct times for many reports, so that some are simultaneous.
const someReport = fc.record({
  deviceId: fc.constantFrom(DEVICE, OTHER),
  observation: fc.oneof(
    fc
      .tuple(fc.nat(8), fc.uniqueArray(someInstalled, { selector: ({ extensionId }) => extensionId }))
      .map(([minutes, extensions]) => inventory(minutes, ...extensions)),
    fc.tuple(fc.nat(8), someChange).map(([minutes, { extensionId, ...over }]) => change(minutes, extensionId, over)),
  ),
});
const history = fc.array(someReport, { maxLength: 25 }).chain((all) =>
  fc.record({
    all: fc.constant(all),
    sent: fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2, maxLength: all.length * 2 }),
  }),
);

/** A direct count: everything that a browser reported, once and in order. */
function recount(
  all: readonly Report[],
): Map<string, { version: string; permissions: readonly string[]; isEnabled: boolean }> {
  const has = new Map<string, { version: string; permissions: readonly string[]; isEnabled: boolean }>();
  const known = new Map<string, { version: string; permissions: readonly string[]; isEnabled: boolean }>();
  for (const { deviceId, observation } of all.toSorted((a, b) =>
    sightingStamp(a.observation) < sightingStamp(b.observation) ? -1 : 1,
  )) {
    if (observation.kind === 'extension_inventory') {
      for (const name of has.keys()) if (name.startsWith(deviceId)) has.delete(name);
      for (const { extensionId, version, permissions, isEnabled } of observation.extensions) {
        known.set(`${deviceId} ${extensionId}`, { version, permissions, isEnabled });
        has.set(`${deviceId} ${extensionId}`, { version, permissions, isEnabled });
      }
      continue;
    }
    const name = `${deviceId} ${observation.extensionId}`;
    const before = known.get(name) ?? { version: '', permissions: [], isEnabled: true };
    const isEnabled =
      observation.change === 'disabled'
        ? false
        : observation.change === 'enabled' || observation.change === 'installed'
          ? true
          : before.isEnabled;
    const now = {
      version: observation.version ?? before.version,
      permissions: observation.permissions ?? before.permissions,
      isEnabled,
    };
    known.set(name, now);
    if (observation.change === 'removed') has.delete(name);
    else has.set(name, now);
  }
  return has;
}

describe('installed extensions, whatever the reports', () => {
  it('are the same in any order, repeated and in batches of any size', () => {
    fc.assert(
      fc.property(
        history,
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 4 }),
        ({ all, sent }, size, fold) => {
          for (const model of [installedExtensions, extensionInventories]) {
            const sorted = (rows: readonly object[]) => rows.map((row) => canonicalize(row)!).toSorted();
            expect(sorted(rowsAfter(model, logOf(sent, size), fold))).toEqual(
              sorted(rowsAfter(model, logOf(all, 500))),
            );
          }
          expect(rowsAfter(extensionChanges, logOf(sent, size))).toHaveLength(
            all.filter(({ observation }) => observation.kind === 'extension_event').length,
          );
        },
      ),
      { numRuns: 150 },
    );
  });

  it('equal a direct recount', () => {
    fc.assert(
      fc.property(history, ({ all, sent }) => {
        const rows = there(logOf(sent, 3)).map(
          ({ device_id, extension_id, version, permissions, is_enabled, risk }) => {
            expect(risk).toBe(rankOf(riskOf(permissions)));
            return [`${device_id} ${extension_id}`, { version, permissions, isEnabled: is_enabled }] as const;
          },
        );
        expect(new Map(rows)).toEqual(recount(all));
      }),
      { numRuns: 150 },
    );
  });
});
