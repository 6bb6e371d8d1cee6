import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventContractError } from '../../../src/platform/eventstore/event-contract-error.ts';
import { eventually } from './projector-application.ts';
import {
  openReactionApplication,
  porter,
  rung,
  tenant,
  type Asked,
  type ReactionApplication,
} from './reaction-application.ts';

const [FLOOD, OTHER] = [tenant(1), tenant(2)];

/** A promise that a test resolves. */
function gate() {
  let open = () => undefined as void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

describe('a reaction with many tenants', () => {
  let application: ReactionApplication;
  beforeEach(async () => {
    application = await openReactionApplication();
  });
  afterEach(() => application.close());

  const of = (tenantId: string) =>
    application.asked.filter((one) => one.tenantId === tenantId).map(({ input }) => input);
  const flood = async (events: number, times = 1) => {
    for (let from = 0; from < events; from += 500) {
      await application.happen(
        'bell-flood',
        Array.from({ length: Math.min(500, events - from) }, (_, at) => rung(`f${from + at}`, times)),
        FLOOD,
      );
    }
  };
  const numbered = (events: number) => Array.from({ length: events }, (_, at) => `f${at} ${at + 1}`);

  it('serves one event behind a backlog of thousands after a few effects of that backlog', async () => {
    const served = gate();
    // The backlog may run 60 effects; then it stops until the other tenant was served.
    const runner = await application.runner(({ tenantId }) => {
      if (tenantId === OTHER) served.open();
      else if (of(FLOOD).length > 60) return served.opened;
      return undefined;
    });
    await flood(3_000);
    await application.happen('bell-other', [rung('somebody')], OTHER);
    runner.start();
    await application.worked();
    expect(of(OTHER)).toEqual(['somebody 1']);
    // The flood is processed completely, in order, each event once.
    expect(of(FLOOD)).toEqual(numbered(3_000));
    expect(await application.rings()).toEqual({ '1 front': 3_000, '2 front': 1 });
    expect((await application.mail()).length).toBe(3_001);
  });

  it('serves others while one event with hundreds of effects is processed', async () => {
    const served = gate();
    const runner = await application.runner(({ tenantId }) => {
      if (tenantId === OTHER) served.open();
      else if (of(FLOOD).length > 20) return served.opened;
      return undefined;
    });
    await application.happen('bell-flood', [rung('f', 400)], FLOOD);
    await application.happen('bell-other', [rung('somebody')], OTHER);
    runner.start();
    await application.worked();
    expect(of(FLOOD)).toEqual(Array.from({ length: 400 }, (_, at) => `f ${at + 1}`));
    expect(of(OTHER)).toEqual(['somebody 1']);
  });

  it('serves a tenant while the effect of another one hangs', async () => {
    const released = gate();
    const runner = await application.runner(({ tenantId }) =>
      tenantId === FLOOD && of(FLOOD).length > 15 ? released.opened : undefined,
    );
    await flood(100);
    runner.start();
    await eventually('the flood hangs', () => of(FLOOD).length === 16);
    await application.happen('bell-other', [rung('somebody')], OTHER);
    await eventually('the other is served', () => of(OTHER).length === 1);
    expect(of(FLOOD).length).toBe(16);
    released.open();
    await application.worked();
    expect(of(FLOOD)).toEqual(numbered(100));
  });

  it('gives the backlogs of many tenants equal turns, with eight effects at once, one of each tenant', async () => {
    const running = new Map<string, number>();
    let most = 0;
    let waiting = 0;
    const eight = gate();
    const runner = await application.runner(async ({ tenantId }) => {
      running.set(tenantId, (running.get(tenantId) ?? 0) + 1);
      expect(running.get(tenantId)).toBe(1);
      most = Math.max(
        most,
        [...running.values()].reduce((sum, one) => sum + one),
      );
      // Backlogs continue only when eight of them run at once.
      if (of(tenantId).length > 10 && (waiting += 1) === 8) eight.open();
      if (of(tenantId).length > 10) await eight.opened;
      running.set(tenantId, running.get(tenantId)! - 1);
    });
    const tenants = Array.from({ length: 12 }, (_, at) => tenant(at + 1));
    for (const one of tenants)
      await application.happen(
        `bell-${one}`,
        Array.from({ length: 100 }, (_, at) => rung(`f${at}`)),
        one,
      );
    runner.start();
    await application.worked();
    expect(most).toBe(8);
    for (const one of tenants) expect(of(one)).toEqual(numbered(100));
    // When the first tenant is done, none is more than a few turns behind.
    const firstDone = Math.min(
      ...tenants.map((one) => application.asked.findLastIndex(({ tenantId }) => tenantId === one)),
    );
    const behind = tenants.map(
      (one) => application.asked.slice(0, firstDone).filter(({ tenantId }) => tenantId === one).length,
    );
    expect(Math.min(...behind)).toBeGreaterThan(20);
  });

  it('keeps the order of everything that shares a row of state, in whatever streams', async () => {
    const runner = await application.runner();
    for (let at = 0; at < 150; at += 1) await application.happen(`bell-${at % 7}`, [rung(`f${at}`)], FLOOD);
    runner.start();
    for (let at = 150; at < 300; at += 1) await application.happen(`bell-${at % 7}`, [rung(`f${at}`)], FLOOD);
    await application.worked();
    expect(of(FLOOD)).toEqual(numbered(300));
    expect(await application.rings()).toEqual({ '1 front': 300 });
  });

  it('continues after a crash in the middle of a backlog: nothing is lost, and ids stay the same', async () => {
    const hanging = gate();
    let isCrashed = false;
    const process = await application.another();
    const crashing = await application.runner(
      () => (!isCrashed && of(FLOOD).length > 500 ? hanging.opened : undefined),
      {
        process,
      },
    );
    await flood(2_000);
    await application.happen('bell-other', [rung('somebody')], OTHER);
    crashing.start();
    await eventually('it hangs', () => of(FLOOD).length > 500 && of(OTHER).length === 1);
    // Another process takes the lease as if this one were dead; its later effects come too late.
    isCrashed = true;
    const next = await application.runner(undefined, { process: await application.another() });
    next.start();
    await application.worked();
    hanging.open();
    await crashing.stop();
    const ids = new Map<string, Set<string>>();
    for (const { input, id } of application.asked as readonly Asked[])
      ids.set(input, (ids.get(input) ?? new Set()).add(id));
    expect([...ids.keys()].filter((input) => input !== 'somebody 1').toSorted()).toEqual(numbered(2_000).toSorted());
    expect([...ids.values()].every(({ size }) => size === 1)).toBe(true);
    expect(await application.rings()).toEqual({ '1 front': 2_000, '2 front': 1 });
    expect((await application.mail()).length).toBe(2_001);
  });

  it('is processed by one of two processes at a time, and the other continues with the backlog where the first one stopped', async () => {
    const [one, two] = [await application.another(), await application.another()];
    const first = await application.runner(undefined, { process: one, alone: false });
    const second = await application.runner(undefined, { process: two, alone: false });
    await flood(1_500);
    first.start();
    second.start();
    await eventually('a backlog is open', async () => of(FLOOD).length > 100);
    await first.stop();
    await application.happen('bell-other', [rung('somebody')], OTHER);
    await application.worked();
    expect([...new Set(of(FLOOD))]).toEqual(numbered(1_500));
    expect(of(OTHER)).toEqual(['somebody 1']);
    expect(await application.rings()).toEqual({ '1 front': 1_500, '2 front': 1 });
  });

  it('continues with a backlog and with parked streams in a new version of its state', async () => {
    const hanging = gate();
    let isCured = false;
    const fault = ({ input }: Asked) => {
      if (input.startsWith('bad') && !isCured) throw new EventContractError('too large');
      return of(FLOOD).length > 50 && !isCured ? hanging.opened : undefined;
    };
    const process = await application.another();
    const before = await application.runner(fault, { process });
    await flood(300);
    await application.happen('bell-other', [rung('bad')], OTHER);
    before.start();
    await eventually(
      'it hangs',
      async () => of(FLOOD).length > 50 && (await application.deadLetters.names()).length > 0,
    );
    isCured = true;
    const next = await application.runner(fault, {
      process: await application.another(),
      reaction: { ...porter, version: 2 },
    });
    // An event between the two versions is not lost either.
    await application.happen('bell-third', [rung('third')], tenant(3));
    next.start();
    await application.worked();
    hanging.open();
    await before.stop();
    await application.deadLetters.askRetry('when-rung-answer');
    await eventually('nothing is parked', async () => (await application.deadLetters.names()).length === 0);
    expect([...new Set(of(FLOOD).map((input) => input.split(' ')[0]))]).toEqual(
      Array.from({ length: 300 }, (_, at) => `f${at}`),
    );
    // Effects of the previous version's process have the same ids.
    expect([new Set(of(OTHER)), new Set(of(tenant(3)))]).toEqual([new Set(['bad 1']), new Set(['third 1'])]);
    expect(new Set(application.asked.filter(({ tenantId }) => tenantId === tenant(3)).map(({ id }) => id)).size).toBe(
      1,
    );
    expect((await application.mail()).length).toBe(302);
    expect(
      (await application.sql(`select version, state from cursors order by version`)).map(({ version, state }) => [
        version,
        state,
      ]),
    ).toEqual([
      [1, 'retired'],
      [2, 'live'],
    ]);
  });

  it('misses and repeats nothing of tenants that are deferred again and again', async () => {
    const runner = await application.runner();
    runner.start();
    const tenants = [tenant(1), tenant(2), tenant(3)];
    let sent = 0;
    for (let round = 0; round < 60; round += 1) {
      // Alternately more and less than a page may run.
      const burst = round % 3 === 0 ? 14 : 3;
      await Promise.all(
        tenants.map((one) =>
          application.happen(
            `bell-${one}-${round % 5}`,
            Array.from({ length: burst }, (_, at) => rung(`r${sent + at}`)),
            one,
          ),
        ),
      );
      sent += burst;
    }
    await application.worked();
    for (const one of tenants)
      expect(of(one).map((input) => Number(input.split(' ')[1]))).toEqual(
        Array.from({ length: sent }, (_, at) => at + 1),
      );
    expect((await application.mail()).length).toBe(3 * sent);
  });

  it('leaves no backlog once a tenant has caught up, and processes it with the others again', async () => {
    const runner = await application.runner();
    await flood(200);
    runner.start();
    await application.worked();
    expect(await application.sql('select * from tenant_backlogs')).toEqual([]);
    await application.happen('bell-flood', [rung('later')], FLOOD);
    await application.worked();
    expect(of(FLOOD).at(-1)).toBe('later 201');
  });
});
