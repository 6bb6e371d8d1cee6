import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIVE_STATE, LiveState } from '../../src/projector/live-state.ts';
import { eventually, log, openHouse, type House } from './house.ts';
import { ledgerEvents, TENANTS } from './ledger.ts';

const changed = (entry: string) => ({ type: 'EntryChanged', data: { entry, amount: 1, note: null } });
const forgotten = { type: 'OwnerForgotten', data: { owner: 'bbbbbbbb-0000-4000-8000-000000000001' } };
const [TENANT, OTHER] = [TENANTS[0]!, TENANTS[1]!];

describe('what is remembered of live state', () => {
  let house: House;
  let live: LiveState;
  beforeEach(async () => {
    house = await openHouse([ledgerEvents]);
    live = new LiveState(house.tail, house.freshness, log);
    live.start();
  });
  afterEach(async () => {
    await live.stop();
    await house.close();
  });

  /** A look-up whose loads the test answers one by one. */
  function lookUp() {
    const loads: ((value: string) => void)[] = [];
    const look = live.remember<string>(() => new Promise((resolve) => loads.push(resolve)), {
      EntryChanged: (event) => (event.data as { entry: string }).entry,
      OwnerForgotten: () => 'tenant',
    });
    const load = async (value: string) => {
      await eventually('a load is under way', () => loads.length > 0);
      loads.shift()!(value);
    };
    /** Loads until the answer is remembered: at first nobody knows whether the feed is being followed. */
    const warm = async (id: string, value: string, tenantId = TENANT) => {
      for (;;) {
        let answered = false;
        const asked = look(tenantId, id).finally(() => (answered = true));
        await eventually('an answer, or a load', () => answered || loads.length > 0);
        if (answered) return expect(await asked).toBe(value);
        await load(value);
        await asked;
        await sleep(5); // the follower needs a turn too
      }
    };
    return { look, loads, load, warm };
  }
  const followed = async (append: Promise<bigint>) =>
    expect(await house.freshness.waitFor([LIVE_STATE], await append, 25_000)).toBe(true);

  it('is forgotten when an event concerns it, and nothing else is', async () => {
    const { look, load, warm, loads } = lookUp();
    await warm('a', 'a1');
    await warm('b', 'b1');
    await warm('a', 'other', OTHER);
    await followed(house.happen('ledger-1', [changed('a')]));
    const again = look(TENANT, 'a');
    await load('a2');
    expect(await again).toBe('a2');
    expect([await look(TENANT, 'b'), await look(OTHER, 'a'), loads.length]).toEqual(['b1', 'other', 0]);
    await followed(house.happen('ledger-1', [forgotten]));
    expect(await look(OTHER, 'a')).toBe('other');
    const both = [look(TENANT, 'a'), look(TENANT, 'b')];
    await load('a3');
    await load('b3');
    expect(await Promise.all(both)).toEqual(['a3', 'b3']);
  });

  it('never holds what a load brought that an event overtook', async () => {
    const { look, load, warm, loads } = lookUp();
    for (const event of [changed('a'), forgotten]) {
      await warm('b', 'b1');
      await followed(house.happen('ledger-1', [changed('a')]));
      const overtaken = look(TENANT, 'a');
      await eventually('the load is under way', () => loads.length === 1);
      await followed(house.happen('ledger-1', [event]));
      await load('stale');
      expect(await overtaken).toBe('stale');
      const after = look(TENANT, 'a');
      await load('fresh');
      expect(await after).toBe('fresh');
    }
  });

  it('is dropped for a whole tenant by an event that cannot be read, and the feed is followed on', async () => {
    const { look, load, warm } = lookUp();
    await warm('a', 'a1');
    const raw = {
      id: crypto.randomUUID(),
      type: 'EntryChanged',
      version: 1,
      data: '{"entry":7}',
      metadata: { actor: { kind: 'system', id: 'x' }, correlationId: 'c', causationId: 'c', commandId: 'c' },
    } as const;
    const verdict = await house.store.append({
      tenantId: TENANT,
      stream: 'ledger-9',
      expectedRevision: -1n,
      events: [raw],
      take: [],
      release: [],
    });
    await followed(Promise.resolve(verdict.kind === 'appended' ? verdict.position : -1n));
    const again = look(TENANT, 'a');
    await load('a2');
    expect(await again).toBe('a2');
  });
});
