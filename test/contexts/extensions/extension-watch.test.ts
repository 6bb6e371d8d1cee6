import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { judgeExtensions, type JudgeExtensions } from '../../../commands/extensions/judge-extensions.ts';
import { recordPermissionChange } from '../../../commands/extensions/record-permission-change.ts';
import type { Observation } from '../../../src/contexts/telemetry/domain/observation.ts';
import { extensionWatch } from '../../../src/contexts/extensions/domain/extension-watch.ts';
import type { ExtensionWatchEvent } from '../../../src/contexts/extensions/domain/watch-events.ts';
import { MAX_APPEND_BYTES } from '../../../src/platform/eventstore/port.ts';
import { canonicalJson } from '../../../src/platform/kernel/canonical-json.ts';
import type { Decision } from '../../../src/platform/kernel/command.ts';
import { orThrow, type Failure } from '../../../src/platform/kernel/failure.ts';
import { whenSomethingIsFoundRaiseAlert } from '../../../src/contexts/alerts/reactions/when-something-is-found-raise-alert.ts';
import { whenExtensionsReportedJudgeThem } from '../../../src/contexts/extensions/reactions/when-extensions-reported-judge-them.ts';
import { context, given, NOW, recorded, type EventFor } from '../../dsl/given.ts';
import { DEVICE, telemetry, USER } from '../../dsl/observations.ts';
import { reactTo } from '../../dsl/reactions.ts';

const at = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();
const common = (minutes: number) => ({ eventId: randomUUID(), occurredAt: at(minutes), domain: null, url: null });
const installed = (extensionId: string) => ({
  extensionId,
  name: extensionId.toUpperCase(),
  version: '1',
  publisher: null,
  permissions: ['tabs'],
  isEnabled: true,
});
const inventory = (minutes: number, ...ids: string[]): Observation => ({
  kind: 'extension_inventory',
  ...common(minutes),
  extensions: ids.map(installed),
});
const change = (
  minutes: number,
  extensionId: string,
  what: 'installed' | 'removed' | 'permissions_changed',
  permissions: string[] | null = null,
): Observation => ({
  kind: 'extension_event',
  ...common(minutes),
  extensionId,
  change: what,
  name: null,
  version: null,
  permissions,
});
const batch = (n: number, ...observations: Observation[]) => recorded(telemetry(observations), n);

/** The input to the evaluation: present extensions, removed ones, and whether the list is complete. */
const judgements = (...events: EventFor<typeof whenExtensionsReportedJudgeThem>[]) =>
  reactTo(whenExtensionsReportedJudgeThem, events)
    .filter(({ command }) => command === judgeExtensions)
    .map(({ input }) => {
      const { present, gone, isComplete } = input as JudgeExtensions;
      return [present.map(({ extensionId }) => extensionId), gone, isComplete];
    });

describe('reports of browsers about their extensions', () => {
  it('are evaluated as of the end of a batch, in chronological order', () => {
    const reports = [change(3, 'c', 'installed'), inventory(0, 'x'), change(2, 'b', 'removed'), inventory(1, 'a', 'b')];
    expect(judgements(batch(1, ...reports))).toEqual([[['a', 'c'], ['b'], true]]);
    expect(
      judgements(batch(1, change(0, 'd', 'installed'), change(1, 'd', 'removed'), change(2, 'd', 'installed'))),
    ).toEqual([[['d'], [], false]]);
  });

  it('are ignored if they are older than the latest inventory, or repeated', () => {
    const latest = inventory(10, 'a');
    expect(
      judgements(
        batch(1, latest),
        batch(2, inventory(5, 'old'), change(6, 'a', 'removed')),
        batch(3, latest),
        batch(4, change(11, 'b', 'installed')),
      ),
    ).toEqual([
      [['a'], [], true],
      [['b'], [], false],
    ]);
  });

  it('record every change of permissions, with the current ones', () => {
    const commands = reactTo(whenExtensionsReportedJudgeThem, [
      batch(1, change(0, 'a', 'permissions_changed', ['cookies']), change(1, 'a', 'permissions_changed')),
    ]);
    expect(
      commands.filter(({ command }) => command === recordPermissionChange).map(({ input }) => input),
    ).toMatchObject([
      {
        deviceId: DEVICE,
        userId: USER,
        extensionMode: 'learning',
        policyVersion: 'abc',
        changes: [
          { extensionId: 'a', permissions: ['cookies'], riskLevel: 'high' },
          { extensionId: 'a', permissions: [], riskLevel: null },
        ],
      },
    ]);
  });
});

const found = (extensionId: string) => ({
  extensionId,
  name: extensionId,
  version: '1',
  publisher: null,
  riskLevel: 'low' as const,
  observationId: randomUUID(),
  occurredAt: at(0),
});
const batchId = randomUUID();
const judged = { deviceId: DEVICE, userId: USER, batchId, extensionMode: null, policyVersion: null };
const wanted = { isWanted: true, severity: null, browserType: 'chrome' as const, listed: new Set<string>() };
const input = (present: ReturnType<typeof found>[], over: object = {}) => ({
  ...judged,
  present,
  gone: [],
  isComplete: true,
  ...over,
});
const foundEvent = (...extensions: ReturnType<typeof found>[]) => ({
  type: 'UnwhitelistedExtensionsFound' as const,
  data: { ...judged, browserType: 'chrome' as const, severity: null, extensions },
});
const clearedEvent = (...extensionIds: string[]) => ({
  type: 'UnwhitelistedExtensionsCleared' as const,
  data: { deviceId: DEVICE, extensionIds },
});

describe('evaluating extensions', () => {
  const [a, b] = [found('a'), found('b')];
  it('reports an unlisted extension once while it stays installed', () => {
    given()
      .when(judgeExtensions, input([a, b]), { ...wanted, listed: new Set(['b']) })
      .then(foundEvent(a));
    given(foundEvent(a))
      .when(judgeExtensions, input([a]), wanted)
      .thenNothing();
    given(foundEvent(a))
      .when(judgeExtensions, input([a, b], { isComplete: false }), wanted)
      .then(foundEvent(b));
  });

  it('reports it again after it was removed, or allowed for a while', () => {
    given(foundEvent(a)).when(judgeExtensions, input([]), wanted).then(clearedEvent('a'));
    given(foundEvent(a))
      .when(judgeExtensions, input([], { isComplete: false }), wanted)
      .thenNothing();
    given(foundEvent(a))
      .when(judgeExtensions, input([], { isComplete: false, gone: ['a', 'b'] }), wanted)
      .then(clearedEvent('a'));
    given(foundEvent(a))
      .when(judgeExtensions, input([a]), { ...wanted, listed: new Set(['a']) })
      .then(clearedEvent('a'));
    given(foundEvent(a), clearedEvent('a'))
      .when(judgeExtensions, input([a]), wanted)
      .then(foundEvent(a));
  });

  it('reports nothing if it is disabled', () => {
    given()
      .when(judgeExtensions, input([a]), { ...wanted, isWanted: false })
      .thenNothing();
  });

  it('counts a change of permissions once, if it is enabled', () => {
    const change = { ...a, permissions: ['cookies'] };
    const changed = {
      type: 'ExtensionPermissionsChanged' as const,
      data: { ...judged, browserType: null, severity: 'high' as const, change },
    };
    const facts = { isWanted: true, severity: 'high' as const, browserType: null };
    given()
      .when(recordPermissionChange, { ...judged, changes: [change] }, facts)
      .then(changed);
    given(changed)
      .when(recordPermissionChange, { ...judged, changes: [change] }, facts)
      .thenNothing();
    given()
      .when(recordPermissionChange, { ...judged, changes: [change] }, { ...facts, isWanted: false })
      .thenNothing();
  });
});

/** Runs the effects of the reaction on one stream, as the executor does, and returns every append. */
function appendsAfter(...events: EventFor<typeof whenExtensionsReportedJudgeThem>[]): ExtensionWatchEvent[][] {
  let state = extensionWatch.initial;
  return reactTo(whenExtensionsReportedJudgeThem, events).map(({ command, input: asked }) => {
    const decision = (command.decide as (...args: unknown[]) => unknown)(state, asked, context(), wanted);
    const written = orThrow(decision as Decision<ExtensionWatchEvent> | Failure).events;
    for (const event of written) state = extensionWatch.fold(state, event);
    return [...written];
  });
}

const bytesOf = (append: readonly ExtensionWatchEvent[]): number =>
  append.reduce((sum, { data }) => sum + Buffer.byteLength(canonicalJson(data)), 0);
/** The longest result of escaping one character in JSON. */
const widest = (length: number, n: number): string => `${n}`.padEnd(length, '\u0001');
const widestExtension = (n: number) => ({
  extensionId: widest(128, n),
  name: widest(200, n),
  version: widest(100, n),
  publisher: widest(200, n),
  permissions: [],
  isEnabled: true,
});
const widestInventory = (minutes: number, from: number, many: number): Observation => ({
  kind: 'extension_inventory',
  ...common(minutes),
  extensions: Array.from({ length: many }, (_, at) => widestExtension(from + at)),
});

describe('the stored events about the extensions of one browser', () => {
  it('fit into the store after nine batches of the longest identifiers and an empty inventory', () => {
    const installs = Array.from({ length: 9 }, (_, n) =>
      batch(n + 1, ...Array.from({ length: 200 }, (_one, at) => change(n, widest(128, n * 200 + at), 'installed'))),
    );
    const appends = appendsAfter(...installs, batch(10, inventory(60)));
    expect(Math.max(...appends.map(bytesOf))).toBeLessThan(MAX_APPEND_BYTES);
    expect(appends.at(-1)!.map(({ type }) => type)).toEqual(['UnwhitelistedExtensionsCleared']);
  });

  it('name every extension of the largest inventory, and all removed ones, in appends that fit', () => {
    const appends = appendsAfter(
      batch(1, widestInventory(0, 0, 500)),
      batch(2, widestInventory(1, 1_000, 500)),
      batch(3, inventory(2)),
    );
    expect(Math.max(...appends.map(bytesOf))).toBeLessThan(MAX_APPEND_BYTES);
    const all = appends.flat();
    const found = all.flatMap((event) =>
      event.type === 'UnwhitelistedExtensionsFound' ? event.data.extensions.map(({ extensionId }) => extensionId) : [],
    );
    const cleared = all.flatMap((event) =>
      event.type === 'UnwhitelistedExtensionsCleared' ? event.data.extensionIds : [],
    );
    expect([new Set(found).size, found.length]).toEqual([1_000, 1_000]);
    expect(cleared.toSorted()).toEqual(found.toSorted());
  });

  it('hold the changed permissions of one report in few appends that fit', () => {
    const permissions = Array.from({ length: 200 }, (_, n) => `${n}`.padEnd(200, 'x'));
    const changes = Array.from({ length: 12 }, (_, n) => change(n, `id-${n}`, 'permissions_changed', permissions));
    const appends = appendsAfter(batch(1, ...changes)).filter(
      ([first]) => first?.type === 'ExtensionPermissionsChanged',
    );
    expect(appends.length).toBeLessThan(4);
    expect(appends.flat()).toHaveLength(12);
    expect(Math.max(...appends.map(bytesOf))).toBeLessThan(MAX_APPEND_BYTES);
  });
});

describe('alerts about extensions', () => {
  const alertsOf = (...events: EventFor<typeof whenSomethingIsFoundRaiseAlert>[]) =>
    reactTo(whenSomethingIsFoundRaiseAlert, events).map(
      ({ command, input }) => [command.name, input as Record<string, unknown>] as const,
    );

  it('are raised once per person and extension, and name the report and the setting', () => {
    const [a, b] = [found('a'), found('b')];
    const events = [
      recorded(foundEvent(a, b), 1),
      recorded({ ...foundEvent(found('a')), data: { ...foundEvent(found('a')).data, deviceId: randomUUID() } }, 2),
    ];
    const alerts = alertsOf(...events);
    expect(alerts.map(([name]) => name)).toEqual(['RaiseAlert', 'RaiseAlert', 'RecordAlertOccurrence']);
    expect(alerts[0]![1]).toMatchObject({
      alertType: 'unwhitelisted_extension',
      severity: null,
      fingerprint: `unwhitelisted_extension|${USER}||a`,
      cause: a.observationId,
      metadata: {
        setting: 'alertOnUnwhitelisted',
        extensionId: 'a',
        browserType: 'chrome',
        observationIds: [a.observationId],
        batchId,
        riskLevel: 'low',
      },
    });
  });

  it('have the severity of the settings', () => {
    const change = { ...found('a'), permissions: ['cookies'] };
    const event = recorded(
      { type: 'ExtensionPermissionsChanged', data: { ...judged, browserType: null, severity: 'critical', change } },
      1,
    );
    expect(alertsOf(event)).toMatchObject([
      [
        'RaiseAlert',
        {
          alertType: 'extension_permission_change',
          severity: 'critical',
          metadata: { setting: 'alertOnPermissionChange', permissions: ['cookies'] },
        },
      ],
    ]);
  });

  it('are raised for an employee whose codes were tried too often, too', () => {
    const event = recorded(
      {
        type: 'VerificationAlertRaised',
        data: { alertId: randomUUID(), userId: USER, alertType: 'repeated_failures', failures: 5 },
      },
      1,
    );
    expect(alertsOf(event)).toMatchObject([
      ['RaiseAlert', { alertType: 'verification_failed', userId: USER, deviceId: null, metadata: { failures: 5 } }],
    ]);
  });
});
