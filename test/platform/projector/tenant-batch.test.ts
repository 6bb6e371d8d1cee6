import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AnyCommand } from '../../../src/platform/kernel/command.ts';
import { defineEvents, type RecordedEvent } from '../../../src/platform/kernel/event.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { defineReaction, effect, type AnyReaction } from '../../../src/platform/kernel/reaction.ts';
import type { EffectRunner } from '../../../src/platform/projector/effect-runner.ts';
import { ReactionPage } from '../../../src/platform/projector/reaction-page.ts';
import { processTenantBatch, type BatchBounds } from '../../../src/platform/projector/tenant-batch.ts';

const knocks = defineEvents('knock', { Knocked: { version: 1, schema: z.object({}), audit: false } });
const opener: AnyReaction = defineReaction({
  name: 'when-knocked-open',
  lane: 'main',
  families: [knocks],
  on: { Knocked: () => [{ effects: [effect({ name: 'open' } as AnyCommand, {})] }] },
});
const tenantId = asTenantId('aaaaaaaa-0000-4000-8000-000000000001');
const knockedAt = (position: bigint) =>
  ({
    id: `aaaaaaaa-0000-4000-8000-${String(position).padStart(12, '0')}`,
    type: 'Knocked',
    stream: 'knock-1',
    tenantId,
    position,
    data: {},
  }) as unknown as RecordedEvent;
const willing = { run: () => Promise.resolve(true) } as unknown as EffectRunner;

/** Positions with gaps, as those of EventStoreDB: reading can only continue from a position of the log. */
describe("the progress of a tenant's batch", () => {
  const share = (behind: bigint[] = []) => ({
    tenantId,
    flowing: new ReactionPage(opener, [400n, 650n, 910n].map(knockedAt)),
    behind: behind.map(knockedAt),
    from: 120n,
    to: 1_300n,
  });
  const work = async (bounds: Partial<BatchBounds>, behind?: bigint[], runner = willing) =>
    processTenantBatch(share(behind), [], runner, {
      effects: 10,
      atLeastOne: false,
      signal: new AbortController().signal,
      mayHaveRun: () => false,
      ...bounds,
    });

  it('is the last processed event when the limit cuts it', async () => {
    expect(await work({ effects: 2 })).toMatchObject({ reached: 650n, isCut: true });
  });

  it('is not cut by commands that found nothing to do', async () => {
    const needless = { run: () => Promise.resolve(false) } as unknown as EffectRunner;
    expect(await work({ effects: 2 }, [], needless)).toMatchObject({ reached: 1_300n, isCut: false, hasActed: false });
  });

  it('is the start of the range when the limit leaves no event', async () => {
    expect(await work({ effects: 0 })).toMatchObject({ reached: 120n, isCut: true });
  });

  it('is an event behind a parked one if that is the last that was passed', async () => {
    expect(await work({ effects: 1 }, [200n, 500n, 700n])).toMatchObject({
      reached: 500n,
      parked: [{ event: { position: 200n } }, { event: { position: 500n } }],
    });
  });

  it('is the last processed event when the next one fails', async () => {
    let runs = 0;
    const failing = {
      run: () => ((runs += 1) === 2 ? Promise.reject(new Error('away')) : Promise.resolve(true)),
    } as unknown as EffectRunner;
    expect(await work({}, [], failing)).toMatchObject({
      reached: 400n,
      isCut: true,
      interruption: { event: { position: 650n } },
    });
  });

  it('is the end of the range when all of it was processed', async () => {
    expect(await work({})).toMatchObject({ reached: 1_300n, isCut: false });
  });
});
