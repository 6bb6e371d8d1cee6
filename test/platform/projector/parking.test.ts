import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvents } from '../../../src/platform/kernel/event.ts';
import { defineReadModel, integer, text, type AnyReadModel } from '../../../src/platform/kernel/read-model.ts';
import type { Projector } from '../../../src/platform/projector/projector.ts';
import { caughtUp, eventually, openHouse, type House } from './house.ts';

const wordEvents = defineEvents('words', {
  WordSaid: { version: 1, schema: z.object({ word: z.string() }), audit: false },
});
const said = (word: string) => ({ type: 'WordSaid', data: { word } });

/** Words of each stream in the order in which they were said. `poison` makes the fold throw while `cured` is false. */
const cure = { cured: false };
const sayings = (name: string, over: Partial<AnyReadModel> = {}): AnyReadModel => ({
  ...defineReadModel({
    name,
    version: 1,
    lane: 'main',
    columns: { stream: text, words: text, said: integer },
    key: ['stream'],
    families: [wordEvents],
    on: {
      WordSaid: (event) => ({
        key: { stream: event.stream },
        fold: (row) => {
          if (event.data.word.startsWith('poison') && !cure.cured) throw new Error(`cannot fold ${event.data.word}`);
          return {
            stream: event.stream,
            words: [...(row ? [row.words] : []), event.data.word].join(' '),
            said: (row?.said ?? 0) + 1,
          };
        },
      }),
    },
  }),
  ...over,
});

/** A number for each stream, made from the text: the database refuses what is no number, the fold does not. */
const numbers: AnyReadModel = defineReadModel({
  name: 'numbers',
  version: 1,
  lane: 'main',
  columns: { stream: text, latest: integer },
  key: ['stream'],
  families: [wordEvents],
  on: {
    WordSaid: (event) => ({
      key: { stream: event.stream },
      fold: () => ({ stream: event.stream, latest: event.data.word as unknown as number }),
    }),
  },
});

/** Words as keys: no index takes one of several thousand random letters. */
const vocabulary: AnyReadModel = defineReadModel({
  name: 'vocabulary',
  version: 1,
  lane: 'main',
  columns: { word: text },
  key: ['word'],
  families: [wordEvents],
  on: { WordSaid: (event) => ({ key: { word: event.data.word }, fold: () => ({ word: event.data.word }) }) },
});

describe('an event that a read model cannot fold', () => {
  let house: House;
  beforeEach(async () => {
    cure.cured = false;
    house = await openHouse([wordEvents]);
  });
  afterEach(() => house.close());

  const started = async (...models: AnyReadModel[]): Promise<Projector> => {
    const projector = house.projector(models);
    await projector.start();
    return projector;
  };
  const settled = async (projector: Projector) =>
    eventually('the lanes have caught up', caughtUp(projector, await house.store.head()));
  const wordsOf = async (name: string) =>
    Object.fromEntries((await house.rowsOf(name)).map(({ stream, words }) => [stream, words]));

  it('parks its own stream; the rest flows, and impairment names the model', async () => {
    const projector = await started(sayings('sayings'), sayings('calm_sayings', { on: {} }));
    expect(await projector.impairment()).toBeUndefined();
    await house.happen('words-1', [said('one')]);
    await house.happen('words-2', [said('two'), said('poison first'), said('poison second'), said('three')]);
    await house.happen('words-1', [said('more')]);
    await settled(projector);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one more', 'words-2': 'two' });
    expect(await projector.impairment()).toBe('parked streams in: sayings');
    // What failed first is what the operator reads, not what failed behind it.
    expect(await projector.parking.list()).toEqual([
      { name: 'sayings', stream: 'words-2', events: 3, error: 'cannot fold poison first' },
    ]);
  });

  it('keeps later events of its stream waiting in order, and a retry folds them all in order', async () => {
    const projector = await started(sayings('sayings'));
    await house.happen('words-1', [said('one'), said('poison'), said('two')]);
    await settled(projector);
    await house.happen('words-1', [said('three')]);
    await settled(projector);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one' });
    cure.cured = true;
    expect(await projector.parking.askRetry('sayings')).toBe(3);
    await eventually('the stream is folded', async () => (await projector.impairment()) === undefined);
    await house.happen('words-1', [said('four')]);
    await settled(projector);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one poison two three four' });
  });

  it('loses nothing that was parked between the asking and the retry', async () => {
    const first = await house.another();
    const projector = first.projector([sayings('sayings')]);
    await projector.start();
    await house.happen('words-1', [said('poison'), said('one')]);
    await settled(projector);
    await projector.stop();
    // As if this event had been parked right after the operator asked.
    await projector.parking.askRetry('sayings');
    await house.sql(
      `update parked_events set retry_asked = false where position = (select max(position) from parked_events)`,
    );
    cure.cured = true;
    const next = await started(sayings('sayings'));
    await eventually('the stream is folded', async () => (await next.impairment()) === undefined);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'poison one' });
  });

  it('keeps no other stream parked when it is still poisonous at the retry', async () => {
    const projector = await started(sayings('sayings'), numbers);
    await house.happen('words-1', [said('not a number')]);
    await house.happen('words-2', [said('poison')]);
    await settled(projector);
    expect((await projector.parking.list()).map(({ name, stream }) => [name, stream])).toEqual([
      ['numbers', 'words-1'],
      ['numbers', 'words-2'],
      ['sayings', 'words-2'],
    ]);
    cure.cured = true;
    await projector.parking.askRetry('numbers');
    await projector.parking.askRetry('sayings');
    await eventually('the cured one is folded', async () =>
      (await projector.parking.list()).every(({ name }) => name === 'numbers'),
    );
    await eventually(
      'the others were tried',
      async () => (await house.sql('select from parked_events where retry_asked')).length === 0,
    );
    expect((await projector.parking.list()).map(({ name, stream }) => [name, stream])).toEqual([
      ['numbers', 'words-1'],
      ['numbers', 'words-2'],
    ]);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'not a number', 'words-2': 'poison' });
  });

  it('is found by narrowing when it is the database that refuses its value', async () => {
    const projector = house.projector([sayings('sayings'), numbers, vocabulary]);
    await projector.prepare();
    const long = randomBytes(8_000).toString('base64');
    for (let at = 0; at < 20; at += 1) await house.happen(`words-${at}`, [said(String(at))]);
    await house.happen('words-7', [said('not a number'), said('77')]);
    await house.happen('words-8', [said('\u0001'), said('88')]);
    await house.happen('words-9', [said(long)]);
    await house.happen('words-1', [said('99999999999')]);
    await house.happen('words-2', [said('22')]);
    await projector.start();
    await settled(projector);
    const rows = await house.rowsOf('numbers');
    expect(rows.find(({ stream }) => stream === 'words-2')).toMatchObject({ latest: 22 });
    expect(rows.find(({ stream }) => stream === 'words-7')).toMatchObject({ latest: 7 });
    expect((await projector.parking.list()).map(({ name, stream, events }) => [name, stream, events])).toEqual([
      ['numbers', 'words-1', 1],
      ['numbers', 'words-7', 2],
      ['numbers', 'words-8', 2],
      ['numbers', 'words-9', 1],
      ['vocabulary', 'words-9', 1],
    ]);
    expect((await wordsOf('sayings'))['words-7']).toBe('7 not a number 77');
    expect(await house.rowsOf('vocabulary')).toHaveLength(20 + 6);
  });

  it('stays parked across a restart, and what comes later waits behind it', async () => {
    const first = await house.another();
    const before = first.projector([sayings('sayings')]);
    await before.start();
    await house.happen('words-1', [said('one'), said('poison')]);
    await settled(before);
    await first.close();
    const after = await started(sayings('sayings'));
    await house.happen('words-1', [said('two')]);
    await settled(after);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one' });
    expect(await after.parking.list()).toEqual([
      { name: 'sayings', stream: 'words-1', events: 2, error: 'cannot fold poison' },
    ]);
  });

  it('parks its stream when it is damaged in the store, and keeps nobody else waiting', async () => {
    await house.projector([sayings('sayings')]).prepare();
    await house.happen('words-1', [said('one')]);
    const damaged = await house.happen('words-2', [said('two')]);
    await house.happen('words-2', [said('three')]);
    await house.happen('words-1', [said('four')]);
    await house.sql(`update events set data = '{"word": 5}' where position = $1`, [String(damaged)]);
    // A process that has not seen it whole.
    const projector = (await house.another()).projector([sayings('sayings')]);
    await projector.start();
    await settled(projector);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one four' });
    expect((await projector.parking.list()).map(({ stream, events }) => [stream, events])).toEqual([['words-2', 2]]);
  });

  it('stops a model that halts right before it, while the others of its lane go on', async () => {
    const strict = sayings('strict', { whenPoisoned: 'halt' });
    const projector = house.projector([strict, sayings('sayings')]);
    await projector.prepare();
    await house.happen('words-1', [said('one'), said('two')]);
    const poison = await house.happen('words-2', [said('poison')]);
    await house.happen('words-1', [said('three')]);
    await projector.start();
    await settled(projector);
    await eventually(
      'the strict one halts',
      async () => (await projector.impairment())?.startsWith('halted: strict') ?? false,
    );
    await settled(projector);
    const halted = (await projector.progress()).find(({ name }) => name === 'strict')!;
    expect([halted.state, halted.position, halted.failure]).toEqual(['halted', poison - 1n, 'cannot fold poison']);
    expect(await wordsOf('strict')).toEqual({ 'words-1': 'one two' });
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one two three' });
  });
});
