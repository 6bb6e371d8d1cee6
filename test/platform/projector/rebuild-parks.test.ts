import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvents } from '../../../src/platform/kernel/event.ts';
import { defineReadModel, text, type AnyReadModel } from '../../../src/platform/kernel/read-model.ts';
import { diffModel } from '../../../src/platform/projector/diff.ts';
import type { Projector } from '../../../src/platform/projector/projector.ts';
import { rebuildInto, rebuildLive } from '../../../src/platform/projector/rebuild.ts';
import {
  caughtUp,
  eventually,
  openProjectorApplication,
  type Process,
  type ProjectorApplication,
} from './projector-application.ts';

const wordEvents = defineEvents('words', {
  WordSaid: { version: 1, schema: z.object({ word: z.string() }), audit: false },
});
const said = (word: string) => ({ type: 'WordSaid', data: { word } });

/** Words at which the fold throws. */
const poison = new Set<string>();
const sayings: AnyReadModel = defineReadModel({
  name: 'sayings',
  version: 1,
  lane: 'main',
  columns: { stream: text, words: text },
  key: ['stream'],
  families: [wordEvents],
  on: {
    WordSaid: (event) => ({
      key: { stream: event.stream },
      fold: (row) => {
        if (poison.has(event.data.word)) throw new Error(`cannot fold ${event.data.word}`);
        return { stream: event.stream, words: [...(row ? [row.words] : []), event.data.word].join(' ') };
      },
    }),
  },
});
const next: AnyReadModel = { ...sayings, version: 2 };
const NEVER_SEEN = () => undefined;

describe('a rebuild of a read model with an event that cannot be folded', () => {
  let application: ProjectorApplication;
  beforeEach(async () => {
    poison.clear();
    application = await openProjectorApplication([wordEvents]);
  });
  afterEach(() => application.close());

  const wordsOf = async (name = 'sayings') =>
    Object.fromEntries((await application.rowsOf(name)).map(({ stream, words }) => [stream, words]));
  const settled = async (projector: Projector) =>
    eventually('the lanes have caught up', caughtUp(projector, await application.store.head()));
  const versions = async (projector: Projector) =>
    (await projector.checkpoints.all()).map(({ version, generation, state }) => [version, generation, state]);
  const tables = () =>
    application.sql(`select relname from pg_class where relname like 'sayings_v%' and relkind = 'r' order by relname`);
  const rebuild = (operator: Process, model = sayings) =>
    rebuildLive(operator.parts(), operator.projector([model]), model, NEVER_SEEN);

  /** What a rebuild leaves that is killed at its start. */
  const leftover = (projector: Projector) =>
    projector.checkpoints.ensure(
      { name: 'sayings', version: 1, generation: 2, lane: 'main', kind: 'model', state: 'filling', position: 0n },
      async (client) => void (await client.query('create table sayings_v1_g2 (like sayings_v1)')),
    );

  /** Stream 2 has a damaged event in the middle. Read by a process that has not seen it intact. */
  const damagedLog = async (): Promise<{ service: Projector; position: bigint }> => {
    await application.projector([sayings]).prepare();
    await application.happen('words-1', [said('one')]);
    await application.happen('words-2', [said('two')]);
    const position = await application.happen('words-2', [said('damaged')]);
    await application.happen('words-2', [said('three')]);
    await application.happen('words-1', [said('four')]);
    await application.sql(`update events set data = '{"word": 5}' where position = $1`, [String(position)]);
    const service = (await application.another()).projector([sayings]);
    await service.start();
    await settled(service);
    return { service, position };
  };

  it('parks the stream of an undecodable event as the live fold does, and names it', async () => {
    const { service, position } = await damagedLog();
    const before = await service.deadLetters.list();
    expect(before).toMatchObject([{ name: 'sayings', stream: 'words-2', events: 2 }]);
    const parked = await rebuild(await application.another());
    expect(parked).toEqual([{ stream: 'words-2', position, error: before[0]!.error }]);
    await settled(service);
    expect(await versions(service)).toEqual([[1, 2, 'live']]);
    expect(await wordsOf()).toEqual({ 'words-1': 'one four', 'words-2': 'two' });
    expect(await service.deadLetters.list()).toEqual(before);
    // The stream stays parked in the new table.
    await application.happen('words-2', [said('five')]);
    await application.happen('words-1', [said('six')]);
    await settled(service);
    expect(await wordsOf()).toEqual({ 'words-1': 'one four six', 'words-2': 'two' });
    expect(await service.deadLetters.list()).toMatchObject([{ stream: 'words-2', events: 3 }]);
    expect(await service.lagging()).toEqual([]);
  });

  it('parks it in many pages too, in memory and after it', async () => {
    await application.projector([sayings]).prepare();
    const streams = Array.from({ length: 50 }, (_, at) => `words-${at}`);
    for (const stream of streams)
      await application.happen(
        stream,
        Array.from({ length: 100 }, () => said('x')),
      );
    await application.sql(`update events set data = '{"word": 5}' where stream in ('words-3', 'words-45')
                             and revision = 50`);
    const service = (await application.another()).projector([sayings]);
    await service.start();
    await settled(service);
    const [expected, before] = [await wordsOf(), await service.deadLetters.list()];
    expect(before.map(({ stream, events }) => [stream, events])).toEqual([
      ['words-3', 50],
      ['words-45', 50],
    ]);
    await rebuild(await application.another());
    expect(await wordsOf()).toEqual(expected);
    expect(await service.deadLetters.list()).toEqual(before);
  });

  it('of the next version parks it as well, and the parked streams of the previous version are gone', async () => {
    const { service } = await damagedLog();
    await service.stop();
    const upgraded = (await application.another()).projector([next]);
    await upgraded.prepare();
    // Queries of this version may need columns that the served table does not have.
    expect(await upgraded.lagging()).toEqual([{ name: 'sayings', isServed: false }]);
    await upgraded.start();
    await eventually('the new version is served', async () => (await upgraded.lagging()).length === 0);
    expect(await versions(upgraded)).toEqual([
      [1, 1, 'retired'],
      [2, 1, 'live'],
    ]);
    expect(await wordsOf()).toEqual({ 'words-1': 'one four', 'words-2': 'two' });
    expect(await upgraded.deadLetters.list()).toMatchObject([{ stream: 'words-2', events: 2 }]);
  });

  it('parks a stream again that the served table has parked, and no other', async () => {
    const service = application.projector([sayings]);
    await service.start();
    poison.add('known');
    await application.happen('words-1', [said('one'), said('new')]);
    await application.happen('words-2', [said('two'), said('known')]);
    await settled(service);
    expect(await rebuild(await application.another())).toEqual([
      { stream: 'words-2', position: 4n, error: 'cannot fold known' },
    ]);
    await settled(service);
    const before = [await versions(service), await tables(), await wordsOf()];
    poison.add('new');
    for (let time = 0; time < 2; time += 1)
      await expect(rebuild(await application.another())).rejects.toThrow(
        'sayings cannot fold the event at position 2 (WordSaid of words-1): cannot fold new',
      );
    // The failed ones left nothing.
    expect([await versions(service), await tables(), await wordsOf()]).toEqual(before);
    expect(await service.lagging()).toEqual([]);
    expect(await service.deadLetters.list()).toMatchObject([{ stream: 'words-2', events: 1 }]);
  });

  it('of a model that halts fails, and leaves nothing', async () => {
    const { service } = await damagedLog();
    const strict: AnyReadModel = { ...sayings, onFoldFailure: 'halt' };
    await expect(rebuild(await application.another(), strict)).rejects.toThrow('sayings cannot fold the event');
    expect(await versions(service)).toEqual([[1, 1, 'live']]);
  });

  it('leaves the service ready while it runs, and a later one removes what a killed one left', async () => {
    const service = application.projector([sayings]);
    await service.start();
    await application.happen('words-1', [said('one')]);
    await settled(service);
    await leftover(service);
    expect(await service.lagging()).toEqual([]);
    poison.add('one');
    await expect(rebuild(await application.another())).rejects.toThrow('cannot fold one');
    expect(await versions(service)).toEqual([[1, 1, 'live']]);
    expect(await tables()).toEqual([{ relname: 'sayings_v1' }]);
  });

  it('left unfinished is discarded by a service that cannot finish it either', async () => {
    const first = (await application.another()).projector([sayings]);
    await first.start();
    await application.happen('words-1', [said('one')]);
    await settled(first);
    await first.stop();
    await leftover(first);
    poison.add('one');
    const service = (await application.another()).projector([sayings]);
    await service.start();
    await eventually('it is gone', async () => (await versions(service)).length === 1);
    expect(await wordsOf()).toEqual({ 'words-1': 'one' });
  });

  it('is compared and shown as of a moment without the stream, which is named', async () => {
    const { position } = await damagedLog();
    const setAside = [{ stream: 'words-2', position, error: expect.stringContaining('word (invalid_type)') }];
    expect(await diffModel((await application.another()).parts(), sayings)).toMatchObject({
      differences: [],
      setAside,
    });
    const schema = `case_${randomUUID().slice(0, 8)}`;
    expect(await rebuildInto((await application.another()).parts(), sayings, schema, {})).toMatchObject({ setAside });
    expect(await wordsOf(`${schema}.sayings`)).toEqual({ 'words-1': 'one four', 'words-2': 'two' });
  });
});
