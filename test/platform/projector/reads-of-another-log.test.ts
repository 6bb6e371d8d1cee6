import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import type { StoredEvent } from '../../../src/platform/eventstore/port.ts';
import type { DomainEvent, Position } from '../../../src/platform/kernel/event.ts';
import type { ReadModelName } from '../../../src/platform/kernel/read-model-name.ts';
import type { LogSlice } from '../../../src/platform/projector/log-window.ts';
import { caughtUp, eventually, METADATA, openProjectorApplication } from './projector-application.ts';
import { entries, ledgerEvents, TENANTS, volumes } from './ledger.ts';
import { openReactionApplication, rung } from './reaction-application.ts';

const OWNER = 'bbbbbbbb-0000-4000-8000-000000000001';
const opened = (entry: string): DomainEvent => ({ type: 'EntryOpened', data: { entry, owner: OWNER, amount: 1 } });
const FAR = 90n;
const ENTRIES = ['entries'] as unknown as readonly ReadModelName[];

/** An event that only the other log has. */
const foreign = (stream: string, { type, data }: DomainEvent): StoredEvent => ({
  position: FAR,
  id: randomUUID(),
  tenantId: TENANTS[0]!,
  stream,
  revision: 0n,
  type,
  version: 1,
  data,
  metadata: METADATA,
  recordedAt: Date.now(),
});

/** `of`, whose `name` is a read of the log: the next one is of another log, during which trust is lost and returns. */
function inDoubt<Of extends object>(of: Of, name: keyof Of & string, page: LogSlice) {
  const trust = new LogTrust();
  let isNext = false;
  let doubted = () => {};
  const wasDoubted = new Promise<void>((resolve) => (doubted = resolve));
  const read = (...given: unknown[]): unknown => {
    if (!isNext) return (of[name] as (...given: unknown[]) => unknown).apply(of, given);
    isNext = false;
    trust.suspect('a connection was lost');
    setTimeout(doubted, 20);
    return Promise.resolve(page);
  };
  const doubtful = new Proxy(of, {
    get: (target, key) => {
      if (key === name) return read;
      const value = Reflect.get(target, key) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return {
    trust,
    doubtful,
    /** Lets the next read be one of another log, and the log be trusted again a little after. */
    doubt: () => void (isNext = true),
    trustAgain: async () => {
      await wasDoubted;
      trust.confirmed(trust.epoch);
    },
  };
}

describe('a read of another log, during which the log came into doubt', () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  for (const [what, events] of [
    ['events', [foreign('ledger-x.1', opened('foreign'))]],
    ['an end', []],
  ] as const)
    it(`brings no read model ${what}`, async () => {
      const application = await openProjectorApplication([ledgerEvents]);
      closers.push(() => application.close());
      const { freshness } = application;
      const { trust, doubtful, doubt, trustAgain } = inDoubt(application.subscription, 'read', {
        events,
        position: FAR,
      });
      trust.onDoubt(() => freshness.forget());
      const known: (Position | undefined)[] = [];
      const projector = application.projector([entries], { trust, subscription: doubtful });
      await projector.start();
      await eventually('it follows', caughtUp(projector, await application.happen('ledger-x.1', [opened('a')])));
      doubt();
      await trustAgain();
      known.push(freshness.positionOf('entries'));
      const end = await application.happen('ledger-x.1', [opened('b')]);
      expect(await freshness.waitFor(ENTRIES, end, 20_000)).toBe(true);
      known.push(freshness.positionOf('entries'));
      expect((await application.rowsOf('entries')).map(({ entry }) => entry)).toEqual(['a', 'b']);
      expect(known.filter((position) => position !== undefined && position > end)).toEqual([]);
    });

  it('brings a rebuild no events', async () => {
    const application = await openProjectorApplication([ledgerEvents]);
    closers.push(() => application.close());
    await application.happen('ledger-x.1', [opened('a'), opened('b')]);
    const { trust, doubtful, doubt, trustAgain } = inDoubt(application.store, 'readAll', {
      events: [foreign('ledger-x.1', opened('foreign'))],
      position: FAR,
    });
    const projector = application.projector([entries], { trust, store: doubtful });
    doubt();
    await projector.start();
    await trustAgain();
    await eventually('it is served', caughtUp(projector, 2n));
    expect((await application.rowsOf('entries')).map(({ entry }) => entry)).toEqual(['a', 'b']);
    expect((await projector.checkpoints.all()).map(({ position }) => position)).toEqual([2n]);
  });

  it('ends a rebuild of several models, none of which is then filled from a log that does not match', async () => {
    const application = await openProjectorApplication([ledgerEvents]);
    closers.push(() => application.close());
    await application.happen('ledger-x.1', [opened('a')]);
    const trust = new LogTrust();
    let reads = 0;
    const doubtful = new Proxy(application.store, {
      get: (target, key) => {
        const value = Reflect.get(target, key) as unknown;
        if (typeof value !== 'function') return value;
        if (key !== 'readAll') return value.bind(target) as unknown;
        return async (...given: Parameters<typeof target.readAll>) => {
          if ((reads += 1) === 1) trust.contradicted('log_older', 'it ends at 0');
          return target.readAll(...given);
        };
      },
    });
    const projector = application.projector([entries, volumes], { trust, store: doubtful });
    await projector.start();
    await vi.waitFor(() => expect(reads).toBe(1));
    // Longer than until the next model, and than until the next try.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(reads).toBe(1);
    expect((await projector.checkpoints.all()).map(({ state }) => state)).toEqual(['filling', 'filling']);
    trust.suspect('it was in doubt');
    trust.confirmed(trust.epoch);
    await eventually('both are served', caughtUp(projector, 1n));
  });

  it('is not followed by a reaction that was being prepared', async () => {
    const application = await openReactionApplication();
    closers.push(() => application.close());
    const trust = new LogTrust();
    let reads = 0;
    const { subscription } = application;
    const counted = new Proxy(subscription, {
      get: (target, key) => {
        const value = Reflect.get(target, key) as unknown;
        if (typeof value !== 'function') return value;
        if (key === 'read') reads += 1;
        return value.bind(target) as unknown;
      },
    });
    let isContradicted = false;
    const runner = await application.runner(undefined, {
      process: { ...application, subscription: counted },
      trust,
      whilePreparing: () => {
        if (!isContradicted) trust.contradicted('log_older', 'it ends at 0');
        isContradicted = true;
      },
    });
    runner.start();
    await vi.waitFor(() => expect(isContradicted).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(reads).toBe(0);
    trust.suspect('it was in doubt');
    trust.confirmed(trust.epoch);
    await application.happen('bell-x.1', [rung('a')]);
    await application.worked();
    expect(application.inputs()).toEqual(['a 1']);
  });

  it('has no effects, and moves no reaction', async () => {
    const application = await openReactionApplication();
    closers.push(() => application.close());
    const { trust, doubtful, doubt, trustAgain } = inDoubt(application.subscription, 'read', {
      events: [foreign('bell-x.1', rung('foreign'))],
      position: FAR,
    });
    const runner = await application.runner(undefined, {
      process: { ...application, subscription: doubtful },
      trust,
    });
    runner.start();
    await application.happen('bell-x.1', [rung('a')]);
    await application.worked();
    doubt();
    await trustAgain();
    await application.happen('bell-x.1', [rung('b')]);
    await application.worked();
    expect(application.inputs()).toEqual(['a 1', 'b 2']);
    expect(await application.sql('select position::text from cursors')).toEqual([{ position: '2' }]);
  });
});
