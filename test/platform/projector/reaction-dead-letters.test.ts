import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventContractError } from '../../../src/platform/eventstore/codec.ts';
import { EventStoreUnavailable } from '../../../src/platform/eventstore/port.ts';
import { conflict, invalid } from '../../../src/platform/kernel/failure.ts';
import { eventually } from './projector-application.ts';
import { cure, openReactionHouse, rung, tenant, type Asked, type ReactionHouse } from './reaction-application.ts';

const [ACME, OTHER] = [tenant(1), tenant(2)];

describe('an event that a reaction cannot process', () => {
  let house: ReactionHouse;
  beforeEach(async () => {
    house = await openReactionHouse();
  });
  afterEach(() => house.close());

  const parked = async () =>
    (await house.deadLetters.list()).map(({ stream, events, error }) => [stream, events, error]);
  const tooLarge = ({ input }: Asked) => {
    if (input.startsWith('bad')) throw new EventContractError('Answered is larger than an event may be');
  };

  it('parks its own stream at once if its effect exceeds the size of an event; all other streams continue', async () => {
    const runner = await house.runner(tooLarge);
    await house.happen('bell-1', [rung('ann', 1, 'one'), rung('bad', 1, 'one'), rung('later', 1, 'one')], ACME);
    await house.happen('bell-2', [rung('ben', 1, 'two')], ACME);
    await house.happen('bell-3', [rung('cat')], OTHER);
    runner.start();
    await house.worked();
    expect(await parked()).toEqual([['bell-1', 2, 'Answered is larger than an event may be']]);
    // No other effect ran twice, and the failing one was tried once.
    expect(house.inputs().toSorted()).toEqual(['ann 1', 'bad 2', 'ben 1', 'cat 1']);
    expect(await house.rings()).toEqual({ '1 one': 1, '1 two': 1, '2 front': 1 });
    expect(await house.mail()).toEqual(['ann', 'ben', 'cat']);
  });

  it('is isolated in a page of hundreds without running the effects of others again', async () => {
    const runner = await house.runner(tooLarge);
    for (let at = 0; at < 40; at += 1)
      await house.happen(
        `bell-${at}`,
        Array.from({ length: 10 }, (_, n) => rung(at === 20 && n === 5 ? 'bad' : `s${at}n${n}`, 0, `door ${at}`)),
        ACME,
      );
    await house.happen('bell-20', [rung('bad', 1, 'door 20')], ACME);
    runner.start();
    await house.worked();
    expect((await parked()).map(([stream]) => stream)).toEqual(['bell-20']);
    expect(house.inputs()).toEqual(['bad 1']);
    expect((await house.mail()).length).toBe(400);
  });

  it.each([
    ['its fold throws', 'bad fold'],
    ['the database refuses what it leaves', 'bad row'],
  ])('is found when %s', async (_how, who) => {
    const runner = await house.runner();
    for (let at = 0; at < 20; at += 1) await house.happen(`bell-${at}`, [rung(`s${at}`, 1, `door ${at}`)], ACME);
    await house.happen('bell-7', [rung(who, 1, 'bad'), rung('behind', 1, 'bad')], ACME);
    await house.happen('bell-8', [rung('after', 1, 'door 8')], ACME);
    await house.happen('bell-9', [rung('there', 1)], OTHER);
    runner.start();
    await house.worked();
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([['bell-7', 2]]);
    expect((await house.rings())['1 door 8']).toBe(2);
    expect((await house.rings())['2 front']).toBe(1);
    expect((await house.mail()).length).toBe(22);
  });

  it('that is damaged in the store parks its stream', async () => {
    const damaged = await house.happen('bell-1', [rung('ann')], ACME);
    await house.happen('bell-2', [rung('ben')], ACME);
    await house.sql(`update events set data = '{"who": 5}' where position = $1`, [String(damaged)]);
    const process = await house.another();
    await house.sql('update cursors set position = 0');
    const runner = await house.runner(undefined, { process });
    await house.sql('update cursors set position = 0');
    runner.start();
    await house.worked();
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([['bell-1', 1]]);
    expect(house.inputs()).toEqual(['ben 1']);
  });

  it('is parked when a command rejects its content, but not when the state has moved on', async () => {
    const runner = await house.runner(({ input }) =>
      input.startsWith('ann') ? invalid('url', 'is not one') : input.startsWith('ben') ? conflict() : undefined,
    );
    await house.happen('bell-1', [rung('ann')], ACME);
    await house.happen('bell-2', [rung('ben')], OTHER);
    runner.start();
    await house.worked();
    expect(await parked()).toEqual([['bell-1', 1, 'answer was refused: validation failed: url: is not one']]);
  });

  it('is parked after several attempts if the cause is unknown', async () => {
    const runner = await house.runner(({ input }) => {
      if (input.startsWith('bad')) throw new TypeError('x is not a function');
    });
    await house.happen('bell-1', [rung('bad'), rung('ann')], ACME);
    await house.happen('bell-2', [rung('ben', 1, 'back')], ACME);
    runner.start();
    await house.worked();
    expect(await parked()).toEqual([['bell-1', 2, 'x is not a function']]);
    expect(house.inputs().filter((input) => input.startsWith('bad')).length).toBeGreaterThan(4);
    expect(house.inputs()).toContain('ben 1');
  });

  it.each([
    ['the event store', () => new EventStoreUnavailable('gone')],
    [
      'the database',
      () => Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
    ],
    ['the network', () => new Error('Connection terminated unexpectedly')],
  ])('is never parked because %s is unavailable, and delays no other tenant meanwhile', async (_what, error) => {
    let isDown = true;
    const runner = await house.runner(({ tenantId }) => {
      if (isDown && tenantId === ACME) throw error();
    });
    await house.happen('bell-1', [rung('ann')], ACME);
    runner.start();
    await eventually('it was tried more often than what is parked', () => house.asked.length > 6);
    await house.happen('bell-2', [rung('ben')], OTHER);
    await eventually('the other is served', () => house.inputs().includes('ben 1'));
    await eventually('it says for whom it is stuck', async () => (await house.backlogs.stuck()).length > 0);
    expect(await parked()).toEqual([]);
    isDown = false;
    await house.worked();
    expect(await house.backlogs.stuck()).toEqual([]);
    expect(await house.rings()).toEqual({ '1 front': 1, '2 front': 1 });
    expect(new Set(house.asked.filter(({ tenantId }) => tenantId === ACME).map(({ id }) => id)).size).toBe(1);
  });

  it('keeps later events of its stream waiting in order, across a restart, and a retry processes them all in order', async () => {
    const first = await house.another();
    const before = await house.runner(tooLarge, { process: first });
    await house.happen('bell-1', [rung('bad'), rung('one')], ACME);
    before.start();
    await house.worked();
    await before.stop();
    const after = await house.runner((one) => (cure.isCured ? undefined : tooLarge(one)));
    after.start();
    await house.happen('bell-1', [rung('two')], ACME);
    await house.worked();
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([['bell-1', 3]]);
    expect(house.inputs()).toEqual(['bad 1']);
    // Still failing: it is tried once, and stays.
    await house.deadLetters.askRetry('when-rung-answer');
    await eventually(
      'it was tried',
      async () => (await house.sql('select from parked_events where retry_asked')).length === 0,
    );
    expect(house.inputs()).toEqual(['bad 1', 'bad 1']);
    expect(await parked()).toEqual([['bell-1', 3, 'Answered is larger than an event may be']]);
    cure.isCured = true;
    await house.deadLetters.askRetry('when-rung-answer');
    await eventually('nothing is parked', async () => (await parked()).length === 0);
    await house.happen('bell-1', [rung('three')], ACME);
    await house.worked();
    expect(house.inputs().slice(2)).toEqual(['bad 1', 'one 2', 'two 3', 'three 4']);
    expect(await house.mail()).toEqual(['bad', 'one', 'three', 'two']);
  });

  it('is retried with its stream if one is named, and later failures park the stream again from there on', async () => {
    const runner = await house.runner((one) =>
      cure.isCured && !one.input.startsWith('bad two') ? undefined : tooLarge(one),
    );
    await house.happen('bell-1', [rung('bad one'), rung('a'), rung('bad two'), rung('b')], ACME);
    await house.happen('bell-2', [rung('bad one')], ACME);
    runner.start();
    await house.worked();
    cure.isCured = true;
    expect(await house.deadLetters.askRetry('when-rung-answer', 'bell-1')).toBe(4);
    await eventually(
      'it was tried',
      async () => (await house.sql('select from parked_events where retry_asked')).length === 0,
    );
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([
      ['bell-1', 2],
      ['bell-2', 1],
    ]);
    expect(await house.rings()).toEqual({ '1 front': 2 });
  });

  it('is dropped by a skip with the events behind it, and the stream continues', async () => {
    const runner = await house.runner(tooLarge);
    await house.happen('bell-1', [rung('bad'), rung('lost')], ACME);
    runner.start();
    await house.worked();
    const [{ last } = { last: 0n }] = await house.deadLetters.summary('when-rung-answer', 'bell-1');
    // Arrives between the operator's look and the skip: it was not named, so it is not skipped.
    await house.happen('bell-1', [rung('kept')], ACME);
    await house.worked();
    expect(await house.deadLetters.askSkip('when-rung-answer', 'bell-1', last)).toBe(2);
    await eventually('nothing is parked', async () => (await parked()).length === 0);
    await house.happen('bell-1', [rung('next')], ACME);
    await house.worked();
    expect(house.inputs()).toEqual(['bad 1', 'kept 1', 'next 2']);
    expect(await house.mail()).toEqual(['kept', 'next']);
  });

  it('is followed by thousands of waiting events, which are processed in order and once each', async () => {
    const runner = await house.runner((one) => (cure.isCured ? undefined : tooLarge(one)));
    await house.happen('bell-1', [rung('bad', 1)], ACME);
    for (let page = 0; page < 4; page += 1)
      await house.happen(
        'bell-1',
        Array.from({ length: 500 }, (_, at) => rung(`n${page * 500 + at}`, at % 100 === 0 ? 1 : 0)),
        ACME,
      );
    runner.start();
    await house.worked();
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([['bell-1', 2_001]]);
    expect(await house.deadLetters.counts()).toEqual(new Map([['when-rung-answer', 1]]));
    cure.isCured = true;
    await house.deadLetters.askRetry('when-rung-answer');
    await eventually('nothing is parked', async () => (await house.deadLetters.names()).length === 0);
    expect(house.inputs().slice(1)).toEqual([
      'bad 1',
      ...Array.from({ length: 20 }, (_, at) => `n${at * 100} ${at + 2}`),
    ]);
    expect((await house.mail()).length).toBe(2_001);
  });

  it('is not lost when the process ends between parking and the checkpoint', async () => {
    await house.runner(tooLarge);
    await house.sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'crash' using errcode = 'XX000'; end $$`,
    );
    await house.sql(
      `create trigger crash before update of position on cursors for each row when (new.position <> old.position) execute function refuse()`,
    );
    await house.happen('bell-1', [rung('ann'), rung('bad'), rung('ben')], ACME);
    const process = await house.another();
    const crashing = await house.runner(tooLarge, { process });
    crashing.start();
    await eventually('it has come to the poison', () => house.inputs().filter((input) => input === 'bad 2').length > 1);
    await crashing.stop();
    expect(await parked()).toEqual([]);
    expect(await house.mail()).toEqual([]);
    await house.sql('drop trigger crash on cursors');
    const next = await house.runner(tooLarge);
    next.start();
    await house.worked();
    expect((await parked()).map(([stream, events]) => [stream, events])).toEqual([['bell-1', 2]]);
    expect(await house.mail()).toEqual(['ann']);
    expect(new Set(house.asked.filter(({ input }) => input === 'ann 1').map(({ id }) => id)).size).toBe(1);
  });
});
