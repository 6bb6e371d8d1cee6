import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLogCopy } from '../../../../src/app/cli/log.ts';
import { EventStoreDbEventStore } from '../../../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import type { Append, EventStore } from '../../../../src/platform/eventstore/port.ts';
import type { LogCopy } from '../../../../src/contexts/installation/log-copy/log-copy.ts';
import { switchLog } from '../../../../src/contexts/installation/log-copy/switch.ts';
import { startApp, type TestApp } from '../../../dsl/app.ts';
import {
  idsOf,
  mustAppend,
  newAppend,
  newClaim,
  newEvent,
  newEvents,
  newStream,
  newTenant,
} from '../../../contracts/event-store/sample.ts';
import { startStandIn, type StandIn } from '../../../fixtures/eventstoredb/stand-in.ts';
import { start } from './log-copy-state.ts';

const DAY_SECONDS = 86_400;

/** Store and database of an idle installation, and an empty server beside it. */
let app: TestApp;
let node: StandIn;
let source: EventStore;
let target: EventStoreDbEventStore;
beforeAll(async () => {
  app = await startApp();
  node = await startStandIn();
  source = app.services.store;
  target = new EventStoreDbEventStore(node.connectionString, { timeoutMs: 15_000 });
}, 60_000);
afterAll(async () => {
  await target.close();
  await app.close();
  await node.stop();
});

/** One run of the command. */
async function copied(work: (copy: LogCopy) => Promise<unknown> = async () => undefined): Promise<void> {
  const { copy, close } = await openLogCopy(app.services, { direction: 'to', url: node.connectionString });
  try {
    while (await copy.step());
    expect(await copy.settle()).toBe(0);
    await work(copy);
  } finally {
    await close();
  }
}

const owner = (sql: string, values: unknown[] = []) => app.services.database.owner.query(sql, values);
const add = (to: Append, expectedRevision: bigint, over: Partial<Append> = {}): Append => ({
  ...to,
  expectedRevision,
  events: newEvents(1),
  claim: [],
  release: [],
  ...over,
});

describe('a copy of the log in EventStoreDB', { timeout: 60_000 }, () => {
  it('has times, claims and their changes since the copy began', async () => {
    const tenantId = newTenant();
    const [kept, passedOn, given] = [newClaim(tenantId), newClaim(tenantId), newClaim(tenantId)];
    const first = newAppend(tenantId, { events: newEvents(2), claim: [kept, passedOn, given] });
    const second = newAppend(tenantId);
    await mustAppend(source, first);
    await mustAppend(source, second);
    await owner(`update events set recorded_at = '2024-05-06T07:08:09.123Z' where stream = $1`, [first.stream]);
    await copied();
    const [event] = await target.readStream(first.stream);
    expect(new Date(event!.recordedAt).toISOString()).toBe('2024-05-06T07:08:09.123Z');
    expect(event!.metadata).toEqual(first.events[0]!.metadata);
    expect(await target.claimHolder(passedOn)).toBe(first.stream);

    await mustAppend(source, add(first, 1n, { release: [passedOn, given] }));
    await mustAppend(source, add(second, 0n, { claim: [passedOn] }));
    await copied();
    expect(await Promise.all([kept, passedOn, given].map((claim) => target.claimHolder(claim)))).toEqual([
      first.stream,
      second.stream,
      undefined,
    ]);
    const rival = newAppend(tenantId, { claim: [kept] });
    expect(await target.append(rival)).toMatchObject({ kind: 'claimed', holder: first.stream });
  });

  it('keeps the revisions of expired events free, and lets the others expire at their original time', async () => {
    const tenantId = newTenant();
    const stream = newStream(tenantId, 'deviceDay');
    await mustAppend(source, newAppend(tenantId, { stream, events: newEvents(3) }));
    await source.setRetention(stream, 3);
    await owner(`update events set recorded_at = now() - interval '5 days' where stream = $1 and revision < 2`, [
      stream,
    ]);
    await owner(`update events set recorded_at = now() - interval '1 day' where stream = $1 and revision = 2`, [
      stream,
    ]);
    expect(await source.trimExpired(100)).toBe(2);
    await copied();
    expect((await target.readStream(stream)).map(({ id, revision }) => [id, revision])).toEqual(
      (await source.readStream(stream)).map(({ id, revision }) => [id, revision]),
    );
    const { $maxAge } = node.log.metadataOf(stream);
    expect($maxAge).toBeLessThanOrEqual(2 * DAY_SECONDS);
    expect($maxAge).toBeGreaterThan(2 * DAY_SECONDS - 3_600);
  });

  it('omits the telemetry of a person who is erased meanwhile', async () => {
    const tenantId = newTenant();
    const userId = randomUUID();
    const telemetry = newAppend(tenantId, {
      stream: newStream(tenantId, 'deviceDay'),
      events: [
        newEvent({
          type: 'TelemetryRecorded',
          data: JSON.stringify({ userId, deviceId: randomUUID(), observations: [] }),
        }),
      ],
    });
    await mustAppend(source, telemetry);
    await copied();
    expect(await target.readStream(telemetry.stream)).toHaveLength(1);
    await mustAppend(
      source,
      newAppend(tenantId, {
        stream: newStream(tenantId, 'employee'),
        events: [newEvent({ type: 'EmployeeErased', data: JSON.stringify({ userId }) })],
      }),
    );
    expect(await source.forgetTelemetryOf(tenantId, userId)).toBe(1);
    await copied();
    expect(await target.readStream(telemetry.stream)).toEqual([]);
  });

  it('moves checkpoints, backlogs and parked events to the corresponding events', async () => {
    const tenantId = newTenant();
    const appends = Array.from({ length: 6 }, () => newAppend(tenantId, { events: newEvents(2) }));
    const positions: bigint[] = [];
    for (const append of appends) positions.push((await mustAppend(source, append)).position);
    await app.settled();
    await app.application.stop();
    const operator = await start(app, undefined, false);
    const { owner } = operator.services.database;
    const log = operator.services.store;
    const reaction = 'alert-detection';
    const {
      rows: [cursor],
    } = await owner.query<{ version: number; generation: number }>(
      'select version, generation from cursors where name = $1',
      [reaction],
    );
    const key = [reaction, cursor!.version, cursor!.generation];
    // A reaction that lags, a tenant that lags further, and a parked stream.
    await owner.query('update cursors set position = $4 where name = $1 and version = $2 and generation = $3', [
      ...key,
      String(positions[3]),
    ]);
    await owner.query(
      'insert into tenant_backlogs (name, version, generation, tenant_id, position) values ($1, $2, $3, $4, $5)',
      [...key, tenantId, String(positions[1])],
    );
    const parked = await log.readStream(appends[2]!.stream);
    for (const { position } of parked) {
      await owner.query(
        'insert into parked_events (name, version, generation, stream, position, tenant_id) values ($1, $2, $3, $4, $5, $6)',
        [...key, appends[2]!.stream, String(position), tenantId],
      );
    }
    const idsAt = async (store: EventStore, sql: string, values: unknown[] = []) => {
      const { rows } = await owner.query<{ position: string }>(sql, values);
      return Promise.all(rows.map(({ position }) => store.idAt(BigInt(position))));
    };
    const everybody = `select position::text from cursors where state <> 'retired' order by name, version, generation`;
    const stoodAt = await idsAt(log, everybody);
    const { copy, parts, close } = await openLogCopy(operator.services, {
      direction: 'to',
      url: node.connectionString,
    });
    await switchLog(copy, parts);
    expect(await idsAt(target, everybody)).toEqual(stoodAt);
    expect(stoodAt).toContain(appends[3]!.events.at(-1)!.id);
    expect(await idsAt(target, 'select position::text from tenant_backlogs where tenant_id = $1', [tenantId])).toEqual([
      appends[1]!.events.at(-1)!.id,
    ]);
    expect(await idsAt(target, 'select position::text from parked_events order by parked_events.position')).toEqual(
      idsOf(parked),
    );
    await close();
    await operator.application.stop();
  });
});
