import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvents } from '../../../src/platform/kernel/event.ts';
import { defineReadModel, integer, text, type AnyReadModel } from '../../../src/platform/kernel/read-model.ts';
import type { Projector } from '../../../src/platform/projector/projector.ts';
import { caughtUp, eventually, openProjectorApplication, type ProjectorApplication } from './projector-application.ts';

const wordEvents = defineEvents('words', {
  WordSaid: { version: 1, schema: z.object({ word: z.string() }), audit: false },
});
const said = (word: string) => ({ type: 'WordSaid', data: { word } });

/** Words of each stream in their order. `poison` makes the fold throw while `cured` is false. */
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

/** A number for each stream, from the text: the database refuses other text, the fold does not. */
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

/** Words as keys: no index accepts one of several thousand random letters. */
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
  let application: ProjectorApplication;
  beforeEach(async () => {
    cure.cured = false;
    application = await openProjectorApplication([wordEvents]);
  });
  afterEach(() => application.close());

  const started = async (...models: AnyReadModel[]): Promise<Projector> => {
    const projector = application.projector(models);
    await projector.start();
    return projector;
  };
  const settled = async (projector: Projector) =>
    eventually('the lanes have caught up', caughtUp(projector, await application.store.head()));
  const wordsOf = async (name: string) =>
    Object.fromEntries((await application.rowsOf(name)).map(({ stream, words }) => [stream, words]));

  it('parks its own stream; the rest continues, and the health report names the model', async () => {
    const projector = await started(sayings('sayings'), sayings('calm_sayings', { on: {} }));
    expect(await projector.impairment()).toBeUndefined();
    await application.happen('words-1', [said('one')]);
    await application.happen('words-2', [said('two'), said('poison first'), said('poison second'), said('three')]);
    await application.happen('words-1', [said('more')]);
    await settled(projector);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one more', 'words-2': 'two' });
    expect(await projector.impairment()).toBe('parked streams in: sayings');
    // The operator sees the first failure, not those behind it.
    expect(await projector.deadLetters.list()).toEqual([
      { name: 'sayings', stream: 'words-2', events: 3, error: 'cannot fold poison first' },
    ]);
  });

  it('keeps later events of its stream waiting in order, and a retry folds them all in order', async () => {
    const projector = await started(sayings('sayings'));
    await application.happen('words-1', [said('one'), said('poison'), said('two')]);
    await settled(projector);
    await application.happen('words-1', [said('three')]);
    await settled(projector);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one' });
    cure.cured = true;
    expect(await projector.deadLetters.askRetry('sayings')).toBe(3);
    await eventually('the stream is folded', async () => (await projector.impairment()) === undefined);
    await application.happen('words-1', [said('four')]);
    await settled(projector);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one poison two three four' });
  });

  it('loses no event that was parked between the request and the retry', async () => {
    const first = await application.another();
    const projector = first.projector([sayings('sayings')]);
    await projector.start();
    await application.happen('words-1', [said('poison'), said('one')]);
    await settled(projector);
    await projector.stop();
    // As if this event had been parked right after the operator's request.
    await projector.deadLetters.askRetry('sayings');
    await application.sql(
      `update parked_events set retry_asked = false where position = (select max(position) from parked_events)`,
    );
    cure.cured = true;
    const next = await started(sayings('sayings'));
    await eventually('the stream is folded', async () => (await next.impairment()) === undefined);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'poison one' });
  });

  it('keeps no other stream parked when it still fails at the retry', async () => {
    const projector = await started(sayings('sayings'), numbers);
    await application.happen('words-1', [said('not a number')]);
    await application.happen('words-2', [said('poison')]);
    await settled(projector);
    expect((await projector.deadLetters.list()).map(({ name, stream }) => [name, stream])).toEqual([
      ['numbers', 'words-1'],
      ['numbers', 'words-2'],
      ['sayings', 'words-2'],
    ]);
    cure.cured = true;
    await projector.deadLetters.askRetry('numbers');
    await projector.deadLetters.askRetry('sayings');
    await eventually('the cured one is folded', async () =>
      (await projector.deadLetters.list()).every(({ name }) => name === 'numbers'),
    );
    await eventually(
      'the others were tried',
      async () => (await application.sql('select from parked_events where retry_asked')).length === 0,
    );
    expect((await projector.deadLetters.list()).map(({ name, stream }) => [name, stream])).toEqual([
      ['numbers', 'words-1'],
      ['numbers', 'words-2'],
    ]);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'not a number', 'words-2': 'poison' });
  });

  it('is found by bisection if the database refuses its value', async () => {
    const projector = application.projector([sayings('sayings'), numbers, vocabulary]);
    await projector.prepare();
    const long = randomBytes(8_000).toString('base64');
    for (let at = 0; at < 20; at += 1) await application.happen(`words-${at}`, [said(String(at))]);
    await application.happen('words-7', [said('not a number'), said('77')]);
    await application.happen('words-8', [said('\u0001'), said('88')]);
    await application.happen('words-9', [said(long)]);
    await application.happen('words-1', [said('99999999999')]);
    await application.happen('words-2', [said('22')]);
    await projector.start();
    await settled(projector);
    const rows = await application.rowsOf('numbers');
    expect(rows.find(({ stream }) => stream === 'words-2')).toMatchObject({ latest: 22 });
    expect(rows.find(({ stream }) => stream === 'words-7')).toMatchObject({ latest: 7 });
    expect((await projector.deadLetters.list()).map(({ name, stream, events }) => [name, stream, events])).toEqual([
      ['numbers', 'words-1', 1],
      ['numbers', 'words-7', 2],
      ['numbers', 'words-8', 2],
      ['numbers', 'words-9', 1],
      ['vocabulary', 'words-9', 1],
    ]);
    expect((await wordsOf('sayings'))['words-7']).toBe('7 not a number 77');
    expect(await application.rowsOf('vocabulary')).toHaveLength(20 + 6);
  });

  it('stays parked across a restart, and later events wait behind it', async () => {
    const first = await application.another();
    const before = first.projector([sayings('sayings')]);
    await before.start();
    await application.happen('words-1', [said('one'), said('poison')]);
    await settled(before);
    await first.close();
    const after = await started(sayings('sayings'));
    await application.happen('words-1', [said('two')]);
    await settled(after);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one' });
    expect(await after.deadLetters.list()).toEqual([
      { name: 'sayings', stream: 'words-1', events: 2, error: 'cannot fold poison' },
    ]);
  });

  it('parks its stream if it is damaged in the store, and delays no other', async () => {
    await application.projector([sayings('sayings')]).prepare();
    await application.happen('words-1', [said('one')]);
    const damaged = await application.happen('words-2', [said('two')]);
    await application.happen('words-2', [said('three')]);
    await application.happen('words-1', [said('four')]);
    await application.sql(`update events set data = '{"word": 5}' where position = $1`, [String(damaged)]);
    // A process that has not read it intact.
    const projector = (await application.another()).projector([sayings('sayings')]);
    await projector.start();
    await settled(projector);
    expect(await wordsOf('sayings')).toEqual({ 'words-1': 'one four' });
    expect((await projector.deadLetters.list()).map(({ stream, events }) => [stream, events])).toEqual([
      ['words-2', 2],
    ]);
  });

  it('stops a model that halts right before it, while the others of its lane continue', async () => {
    const strict = sayings('strict', { onFoldFailure: 'halt' });
    const projector = application.projector([strict, sayings('sayings')]);
    await projector.prepare();
    await application.happen('words-1', [said('one'), said('two')]);
    const poison = await application.happen('words-2', [said('poison')]);
    await application.happen('words-1', [said('three')]);
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
