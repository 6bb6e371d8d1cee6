import { z } from 'zod';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AnyCommand } from '../../../src/platform/kernel/command.ts';
import { enqueue } from '../../../src/platform/kernel/job.ts';
import { bigint, integer, text } from '../../../src/platform/kernel/read-model.ts';
import { defineReaction, effect, type AnyReaction } from '../../../src/platform/kernel/reaction.ts';
import type { CatchUpSubscription } from '../../../src/platform/projector/catch-up-subscription.ts';
import type { LogSlice } from '../../../src/platform/projector/log-window.ts';
import { eventually, type Process } from './projector-application.ts';
import {
  bellEvents,
  cure,
  openReactionApplication,
  porter,
  rung,
  tenant,
  type ReactionApplication,
} from './reaction-application.ts';

const NAME = 'when-rung-answer';
const answer = { name: 'answer' } as AnyCommand;
const mail = { name: 'mail', data: z.string() };

/** The next version also counts the visits, and numbers its responses as the previous version did. */
const attentive = (onFold: (who: string) => void = () => undefined): AnyReaction =>
  defineReaction({
    name: NAME,
    version: 2,
    lane: 'main',
    families: [bellEvents],
    state: { columns: { door: text, rings: bigint, visits: integer }, key: ['door'] },
    on: {
      Rung: ({ data: { door, who, times } }) => [
        {
          key: { door },
          react: (row) => {
            onFold(who);
            if (who === 'new poison') throw new Error('cannot fold new poison');
            const before = row?.rings ?? 0;
            return {
              row: {
                door,
                rings: before + times,
                visits: who === 'too many' ? 2 ** 40 : (row?.visits ?? 0) + 1,
              },
              effects: [
                ...Array.from({ length: times }, (_, at) => effect(answer, `${who} ${before + at + 1}`)),
                enqueue(mail, who),
              ],
            };
          },
        },
      ],
    },
  });

/** Keeps no state. */
const forgetful: AnyReaction = defineReaction({
  name: NAME,
  lane: 'main',
  families: [bellEvents],
  on: { Rung: ({ data: { who } }) => [{ effects: [effect(answer, who)] }] },
});

const stalled: (() => void)[] = [];

/** A process that reads this many pages of the log, and no more until it is released. */
function stalling(process: Process, pages: number): { process: Process; release: () => void } {
  let left = pages;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const subscription = new Proxy(process.subscription, {
    get(target, name) {
      if (name === 'read')
        return async (...args: Parameters<CatchUpSubscription['read']>): Promise<LogSlice> => {
          left -= 1;
          if (left < 0) await released;
          return target.read(...args);
        };
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });
  stalled.push(release);
  return { process: { ...process, subscription }, release };
}

describe('a new version of a reaction', () => {
  let application: ReactionApplication;
  beforeEach(async () => {
    application = await openReactionApplication();
  });
  afterEach(async () => {
    for (const release of stalled.splice(0)) release();
    await application.close();
  });

  const state = async () =>
    (
      await application.sql(`select tenant_id, door, rings::int, visits from when_rung_answer_state_v2 order by 1, 2`)
    ).map(({ tenant_id, door, rings, visits }) => [(tenant_id as string).at(-1), door, rings, visits]);
  const cursors = async () =>
    (await application.sql('select version, state from cursors order by version')).map((row) => [
      row['version'],
      row['state'],
    ]);
  const tables = async () =>
    (
      await application.sql(
        `select relname from pg_class where relkind = 'r' and relname like 'when_rung_answer_state%' order by 1`,
      )
    ).map(({ relname }) => relname);
  const filledTo = async () =>
    (await application.sql(`select filled_to::int as at from cursors where version = 2 and state = 'filling'`))[0]?.[
      'at'
    ];
  const workedBefore = async (rings: readonly [who: string, of: number][], reaction = porter) => {
    const before = await application.runner(undefined, { process: await application.another(), reaction });
    before.start();
    for (const [who, of] of rings) await application.happen(`bell-${of}`, [rung(who)], tenant(of));
    await application.worked();
    await before.stop();
    return before;
  };

  it('knows earlier events, repeats no effect, and misses no event between the two', async () => {
    await workedBefore([
      ['a', 1],
      ['b', 1],
      ['c', 2],
    ]);
    await application.happen('bell-1', [rung('between')], tenant(1));
    const next = await application.runner(undefined, { reaction: attentive() });
    next.start();
    await application.happen('bell-2', [rung('after')], tenant(2));
    await application.worked();
    // The order across tenants is not defined.
    expect(application.inputs().toSorted()).toEqual(['a 1', 'after 2', 'b 2', 'between 3', 'c 1']);
    expect(await application.mail()).toEqual(['a', 'after', 'b', 'between', 'c']);
    expect(await state()).toEqual([
      ['1', 'front', 3, 3],
      ['2', 'front', 2, 2],
    ]);
    expect(await cursors()).toEqual([
      [1, 'retired'],
      [2, 'live'],
    ]);
    // The old rows are no longer maintained: an erasure would not reach them.
    expect(await tables()).toEqual(['when_rung_answer_state_v2']);
  });

  it('continues a replay that a killed process began, and the killed one can write no more', async () => {
    const early = Array.from({ length: 700 }, (_, at) => rung(`e${at}`));
    for (let from = 0; from < early.length; from += 100)
      await application.happen('bell-1', early.slice(from, from + 100), tenant(1));
    const head = await application.store.head();
    await (await application.runner()).stop();
    // As if all of it had been processed: the effects of 700 events do not matter here.
    await application.sql('update cursors set position = $1', [String(head)]);
    const first: string[] = [];
    const hung = stalling(await application.another(), 1);
    const dying = await application.runner(undefined, {
      process: hung.process,
      reaction: attentive((who) => first.push(who)),
    });
    dying.start();
    await eventually('one page is folded', async () => ((await filledTo()) as number) > 0);
    const at = (await filledTo()) as number;
    expect(at).toBeLessThan(700);
    expect(new Set(first)).toEqual(new Set(early.slice(0, at).map(({ data }) => data.who)));
    // Its lease expires.
    await application.sql(`update cursors set leased_until = '-infinity' where version = 2`);
    const second: string[] = [];
    const heir = await application.runner(undefined, {
      process: await application.another(),
      alone: false,
      reaction: attentive((who) => second.push(who)),
    });
    heir.start();
    await application.happen('bell-1', [rung('after')], tenant(1));
    await application.worked();
    hung.release();
    await dying.stop();
    expect([...new Set(second)]).toEqual([...early.slice(at).map(({ data }) => data.who), 'after']);
    expect(application.inputs()).toEqual(['after 701']);
    expect(await state()).toEqual([['1', 'front', 701, 701]]);
  });

  it('leaves out events that the previous version had parked or deferred, and processes them in turn', async () => {
    const before = await application.runner(
      ({ input }) => {
        if (input.startsWith('later') || input.startsWith('away'))
          throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
      },
      { process: await application.another() },
    );
    before.start();
    await application.happen('bell-1', [rung('a')], tenant(1));
    await application.happen('bell-bad', [rung('bad fold'), rung('behind')], tenant(1));
    await application.happen('bell-2', [rung('b'), rung('later'), rung('last')], tenant(2));
    await eventually(
      'a stream is parked and a tenant set aside',
      async () =>
        (await application.deadLetters.counts()).size === 1 && (await application.backlogs.counts()).size === 1,
    );
    await application.happen('bell-1', [rung('c')], tenant(1));
    await eventually('the others go on', () => application.inputs().includes('c 2'));
    await before.stop();
    const asked = application.asked.length;
    cure.isCured = true;
    const next = await application.runner(undefined, { reaction: attentive() });
    next.start();
    await application.worked();
    expect(application.inputs().slice(asked)).toEqual(['later 2', 'last 3']);
    await application.deadLetters.askRetry(NAME);
    await eventually('nothing is parked', async () => (await application.deadLetters.names()).length === 0);
    expect(application.inputs().slice(asked)).toEqual(['later 2', 'last 3', 'bad fold 3', 'behind 4']);
    expect(await state()).toEqual([
      ['1', 'front', 4, 4],
      ['2', 'front', 3, 3],
    ]);
  });

  it('parks a stream that it cannot fold, or whose row the database refuses, and folds the others', async () => {
    await workedBefore([
      ['a', 1],
      ['new poison', 2],
      ['behind', 2],
      ['too many', 3],
      ['behind', 3],
      ['b', 1],
    ]);
    const next = await application.runner(undefined, { reaction: attentive() });
    next.start();
    await application.happen('bell-1', [rung('c')], tenant(1));
    await application.worked();
    expect(application.inputs().at(-1)).toBe('c 3');
    expect((await application.deadLetters.list()).map(({ stream, events }) => [stream, events])).toEqual([
      ['bell-2', 2],
      ['bell-3', 2],
    ]);
    expect(await state()).toEqual([['1', 'front', 3, 3]]);
  });

  it('replays again when the log was copied in the middle of it: positions have another meaning now', async () => {
    await workedBefore([
      ['a', 1],
      ['b', 1],
    ]);
    const hung = stalling(await application.another(), 0);
    const dying = await application.runner(undefined, { process: hung.process, reaction: attentive() });
    await dying.stop();
    await application.sql(
      `insert into when_rung_answer_state_v2 (tenant_id, door, rings, visits) values ($1, 'front', 70, 70)`,
      [tenant(1)],
    );
    await application.sql('update cursors set filled_from = 0, filled_to = null, epoch = epoch + 1');
    const next = await application.runner(undefined, { reaction: attentive() });
    next.start();
    await eventually('it is live', async () => (await cursors())[1]?.[1] === 'live');
    expect(await state()).toEqual([['1', 'front', 2, 2]]);
  });

  it('takes over the checkpoint when it loses its state, and replays history when it gains one', async () => {
    await workedBefore([['a', 1]]);
    await application.happen('bell-1', [rung('between')], tenant(1));
    await workedBefore([['b', 1]], { ...forgetful, version: 2 });
    expect(application.inputs()).toEqual(['a 1', 'between', 'b']);
    expect(await tables()).toEqual([]);
    await application.happen('bell-1', [rung('between')], tenant(1));
    const next = await application.runner(undefined, { reaction: { ...porter, version: 3 } });
    next.start();
    await application.worked();
    expect(application.inputs()).toEqual(['a 1', 'between', 'b', 'between 4']);
    expect(await cursors()).toEqual([
      [1, 'retired'],
      [2, 'retired'],
      [3, 'live'],
    ]);
  });

  it('takes over from a version that never finished its replay', async () => {
    await workedBefore([
      ['a', 1],
      ['b', 1],
    ]);
    const unfinished = await application.runner(undefined, {
      process: await application.another(),
      reaction: attentive(),
    });
    await unfinished.stop();
    const next = await application.runner(undefined, { reaction: { ...porter, version: 3 } });
    next.start();
    await application.happen('bell-1', [rung('c')], tenant(1));
    await application.worked();
    expect(application.inputs()).toEqual(['a 1', 'b 2', 'c 3']);
    expect(await tables()).toEqual(['when_rung_answer_state_v3']);
  });
});
