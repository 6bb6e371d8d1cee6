import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventContractError } from '../../../src/platform/eventstore/event-contract-error.ts';
import { EventStoreUnavailable } from '../../../src/platform/eventstore/port.ts';
import { conflict, invalid } from '../../../src/platform/kernel/failure.ts';
import { eventually } from './projector-application.ts';
import {
  cure,
  openReactionApplication,
  rung,
  tenant,
  type Asked,
  type ReactionApplication,
} from './reaction-application.ts';

const [ACME, OTHER] = [tenant(1), tenant(2)];

describe('an event that a reaction cannot process', () => {
  let application: ReactionApplication;
  beforeEach(async () => {
    application = await openReactionApplication();
  });
  afterEach(() => application.close());

  const parked = async () =>
    (await application.deadLetters.list()).map(({ stream, events, error }) => [stream, events, error]);
  const tooLarge = ({ input }: Asked) => {
    if (input.startsWith('bad')) throw new EventContractError('Answered is larger than an event may be');
  };

  it('parks its own stream at once if its effect exceeds the size of an event; all other streams continue', async () => {
    const runner = await application.runner(tooLarge);
    await application.happen('bell-1', [rung('ann', 1, 'one'), rung('bad', 1, 'one'), rung('later', 1, 'one')], ACME);
    await application.happen('bell-2', [rung('ben', 1, 'two')], ACME);
    await application.happen('bell-3', [rung('cat')], OTHER);
    runner.start();
    await application.worked();
    expect(await parked()).toEqual([['bell-1', 2, 'Answered is larger than an event may be']]);
    // No other effect ran twice, and the failing one was tried once.
    expect(application.inputs().toSorted()).toEqual(['ann 1', 'bad 2', 'ben 1', 'cat 1']);
    expect(await application.rings()).toEqual({ '1 one': 1, '1 two': 1, '2 front': 1 });
    expect(await application.mail()).toEqual(['ann', 'ben', 'cat']);
  });

  it('is isolated in a page of hundreds without running the effects of others again', async () => {
    const runner = await application.runner(tooLarge);
    for (let at = 0; at < 40; at += 1)
      await application.happen(
        `bell-${at}`,
        Array.from({ length: 10 }, (_, n) => rung(at === 20 && n === 5 ? 'bad' : `s${at}n${n}`, 0, `door ${at}`)),
        ACME,
      );
    await application.happen('bell-20', [rung('bad', 1, 'door 20')], ACME);
    runner.start();
    await application.worked();
    expect((await parked()).map(([stream]) => stream)).toEqual(['bell-20']);
    expect(application.inputs()).toEqual(['bad 1']);
    expect((await application.mail()).length).toBe(400);
  });

  it.each([
    ['its fold throws', 'bad fold'],
    ['the database refuses its row', 'bad row'],
  ])('is found when %s', async (_how, who) => {
    const runner = await application.runner();
    for (let at = 0; at < 20; at += 1) await application.happen(`bell-${at}`, [rung(`s${at}`, 1, `door ${at}`)], ACME);
    await application.happen('bell-7', [rung(who, 1, 'bad'), rung('behind', 1, 'bad')], ACME);
    await application.happen('bell-8', [rung('after', 1, 'door 8')], ACME);
    await application.happen('bell-9', [rung('there', 1)], OTHER);
    runner.start();
    await application.worked();
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([['bell-7', 2]]);
    expect((await application.rings())['1 door 8']).toBe(2);
    expect((await application.rings())['2 front']).toBe(1);
    expect((await application.mail()).length).toBe(22);
  });

  it('that is damaged in the store parks its stream', async () => {
    const damaged = await application.happen('bell-1', [rung('ann')], ACME);
    await application.happen('bell-2', [rung('ben')], ACME);
    await application.sql(`update events set data = '{"who": 5}' where position = $1`, [String(damaged)]);
    const process = await application.another();
    await application.sql('update cursors set position = 0');
    const runner = await application.runner(undefined, { process });
    await application.sql('update cursors set position = 0');
    runner.start();
    await application.worked();
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([['bell-1', 1]]);
    expect(application.inputs()).toEqual(['ben 1']);
  });

  it('is parked when a command rejects its content, but not when the state has moved on', async () => {
    const runner = await application.runner(({ input }) =>
      input.startsWith('ann') ? invalid('url', 'is not one') : input.startsWith('ben') ? conflict() : undefined,
    );
    await application.happen('bell-1', [rung('ann')], ACME);
    await application.happen('bell-2', [rung('ben')], OTHER);
    runner.start();
    await application.worked();
    expect(await parked()).toEqual([['bell-1', 1, 'answer was refused: validation failed: url: is not one']]);
  });

  it('is parked after several attempts if the cause is unknown', async () => {
    const runner = await application.runner(({ input }) => {
      if (input.startsWith('bad')) throw new TypeError('x is not a function');
    });
    await application.happen('bell-1', [rung('bad'), rung('ann')], ACME);
    await application.happen('bell-2', [rung('ben', 1, 'back')], ACME);
    runner.start();
    await application.worked();
    expect(await parked()).toEqual([['bell-1', 2, 'x is not a function']]);
    expect(application.inputs().filter((input) => input.startsWith('bad')).length).toBeGreaterThan(4);
    expect(application.inputs()).toContain('ben 1');
  });

  it('is never parked because of an outage of any kind, and delays no other tenant meanwhile', async () => {
    const outages = new Map([
      [tenant(3), () => new EventStoreUnavailable('gone')],
      [
        tenant(4),
        () => Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
      ],
      [tenant(5), () => new Error('Connection terminated unexpectedly')],
    ]);
    let isDown = true;
    const runner = await application.runner(({ tenantId }) => {
      const outage = isDown ? outages.get(tenantId) : undefined;
      if (outage) throw outage();
    });
    const askedOf = (tenantId: string) => application.asked.filter((asked) => asked.tenantId === tenantId);
    for (const tenantId of outages.keys()) await application.happen(`bell-${tenantId}`, [rung('ann')], tenantId);
    runner.start();
    await eventually('each was tried more often than what is parked', () =>
      [...outages.keys()].every((tenantId) => askedOf(tenantId).length > 6),
    );
    await application.happen('bell-2', [rung('ben')], OTHER);
    await eventually('the other is served', () => application.inputs().includes('ben 1'));
    await eventually('it says for whom it is stuck', async () => (await application.backlogs.stuck()).length > 0);
    expect(await parked()).toEqual([]);
    isDown = false;
    await application.worked();
    expect(await application.backlogs.stuck()).toEqual([]);
    expect(await application.rings()).toEqual({ '2 front': 1, '3 front': 1, '4 front': 1, '5 front': 1 });
    for (const tenantId of outages.keys()) expect(new Set(askedOf(tenantId).map(({ id }) => id)).size).toBe(1);
  });

  it('keeps later events of its stream waiting in order, across a restart, and a retry processes them all in order', async () => {
    const first = await application.another();
    const before = await application.runner(tooLarge, { process: first });
    await application.happen('bell-1', [rung('bad'), rung('one')], ACME);
    before.start();
    await application.worked();
    await before.stop();
    const after = await application.runner((one) => (cure.isCured ? undefined : tooLarge(one)));
    after.start();
    await application.happen('bell-1', [rung('two')], ACME);
    await application.worked();
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([['bell-1', 3]]);
    expect(application.inputs()).toEqual(['bad 1']);
    // Still failing: it is tried once, and stays.
    await application.deadLetters.askRetry('when-rung-answer');
    await eventually(
      'it was tried',
      async () => (await application.sql('select from parked_events where retry_asked')).length === 0,
    );
    expect(application.inputs()).toEqual(['bad 1', 'bad 1']);
    expect(await parked()).toEqual([['bell-1', 3, 'Answered is larger than an event may be']]);
    cure.isCured = true;
    await application.deadLetters.askRetry('when-rung-answer');
    await eventually('nothing is parked', async () => (await parked()).length === 0);
    await application.happen('bell-1', [rung('three')], ACME);
    await application.worked();
    expect(application.inputs().slice(2)).toEqual(['bad 1', 'one 2', 'two 3', 'three 4']);
    expect(await application.mail()).toEqual(['bad', 'one', 'three', 'two']);
  });

  it('is retried with its stream if one is named, and later failures park the stream again from there on', async () => {
    const runner = await application.runner((one) =>
      cure.isCured && !one.input.startsWith('bad two') ? undefined : tooLarge(one),
    );
    await application.happen('bell-1', [rung('bad one'), rung('a'), rung('bad two'), rung('b')], ACME);
    await application.happen('bell-2', [rung('bad one')], ACME);
    runner.start();
    await application.worked();
    cure.isCured = true;
    expect(await application.deadLetters.askRetry('when-rung-answer', 'bell-1')).toBe(4);
    await eventually(
      'it was tried',
      async () => (await application.sql('select from parked_events where retry_asked')).length === 0,
    );
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([
      ['bell-1', 2],
      ['bell-2', 1],
    ]);
    expect(await application.rings()).toEqual({ '1 front': 2 });
  });

  it('is dropped by a skip with the events behind it, and the stream continues', async () => {
    const runner = await application.runner(tooLarge);
    await application.happen('bell-1', [rung('bad'), rung('lost')], ACME);
    runner.start();
    await application.worked();
    const [{ last } = { last: 0n }] = await application.deadLetters.summary('when-rung-answer', 'bell-1');
    // Arrives between the operator's look and the skip: it was not named, so it is not skipped.
    await application.happen('bell-1', [rung('kept')], ACME);
    await application.worked();
    expect(await application.deadLetters.askSkip('when-rung-answer', 'bell-1', last)).toBe(2);
    await eventually('nothing is parked', async () => (await parked()).length === 0);
    await application.happen('bell-1', [rung('next')], ACME);
    await application.worked();
    expect(application.inputs()).toEqual(['bad 1', 'kept 1', 'next 2']);
    expect(await application.mail()).toEqual(['kept', 'next']);
  });

  it('is followed by thousands of waiting events, which are processed in order and once each', async () => {
    const runner = await application.runner((one) => (cure.isCured ? undefined : tooLarge(one)));
    await application.happen('bell-1', [rung('bad', 1)], ACME);
    for (let page = 0; page < 4; page += 1)
      await application.happen(
        'bell-1',
        Array.from({ length: 500 }, (_, at) => rung(`n${page * 500 + at}`, at % 100 === 0 ? 1 : 0)),
        ACME,
      );
    runner.start();
    await application.worked();
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([['bell-1', 2_001]]);
    expect(await application.deadLetters.counts()).toEqual(new Map([['when-rung-answer', 1]]));
    cure.isCured = true;
    await application.deadLetters.askRetry('when-rung-answer');
    await eventually('nothing is parked', async () => (await application.deadLetters.names()).length === 0);
    expect(application.inputs().slice(1)).toEqual([
      'bad 1',
      ...Array.from({ length: 20 }, (_, at) => `n${at * 100} ${at + 2}`),
    ]);
    expect((await application.mail()).length).toBe(2_001);
  });

  it('is not lost when the process ends between parking and the checkpoint', async () => {
    await application.runner(tooLarge);
    await application.sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'crash' using errcode = 'XX000'; end $$`,
    );
    await application.sql(
      `create trigger crash before update of position on cursors for each row when (new.position <> old.position) execute function refuse()`,
    );
    await application.happen('bell-1', [rung('ann'), rung('bad'), rung('ben')], ACME);
    const process = await application.another();
    const crashing = await application.runner(tooLarge, { process });
    crashing.start();
    await eventually(
      'it has come to the poison',
      () => application.inputs().filter((input) => input === 'bad 2').length > 1,
    );
    await crashing.stop();
    expect(await parked()).toEqual([]);
    expect(await application.mail()).toEqual([]);
    await application.sql('drop trigger crash on cursors');
    const next = await application.runner(tooLarge);
    next.start();
    await application.worked();
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([['bell-1', 2]]);
    expect(await application.mail()).toEqual(['ann']);
    expect(new Set(application.asked.filter(({ input }) => input === 'ann 1').map(({ id }) => id)).size).toBe(1);
  });
});
