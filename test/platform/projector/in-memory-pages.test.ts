import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../../src/platform/database/transaction.ts';
import type { DomainEvent } from '../../../src/platform/kernel/event.ts';
import { Checkpoints, LeaseLost } from '../../../src/platform/projector/checkpoints.ts';
import type { LaneMember } from '../../../src/platform/projector/lane-member.ts';
import { InMemoryPages } from '../../../src/platform/projector/in-memory-pages.ts';
import { Projection } from '../../../src/platform/projector/projection.ts';
import { openProjectorApplication, type ProjectorApplication } from './projector-application.ts';
import { entries, ledgerEvents, placed, TENANTS } from './ledger.ts';

const OWNER = 'bbbbbbbb-0000-4000-8000-000000000001';

describe('a page whose rows are in memory', () => {
  let application: ProjectorApplication;
  let checkpoints: Checkpoints;
  let member: LaneMember;
  let position = 0;
  beforeAll(async () => {
    application = await openProjectorApplication([ledgerEvents]);
    await application.projector([entries]).prepare();
    checkpoints = new Checkpoints(application.database.projector, randomUUID());
  });
  afterAll(() => application.close());

  /** A new lease, and a cache with the rows of these names. */
  const begin = async (...names: string[]) => {
    const [checkpoint] = await checkpoints.acquire([entries], ['live'], true);
    member = {
      checkpoint: checkpoint!,
      position: checkpoint!.position,
      saved: checkpoint!.position,
      projection: new Projection(entries, 1),
      parked: new Map(),
    };
    const asked = names.map((entry) => happened('EntryChanged', { entry, amount: 0, note: null }));
    await transaction(application.database.projector, (client) => member.projection.apply(client, asked));
    member.projection.committed();
  };
  const happened = (type: string, data: DomainEvent['data']) =>
    placed({ tenantId: TENANTS[0]!, event: { type, data } }, ++position);
  const opened = (entry: string) => happened('EntryOpened', { entry, owner: OWNER, amount: 1 });
  const write = async (mine: ReturnType<typeof opened>[], mostPlans?: number) => {
    const pages = new InMemoryPages({ pool: application.database.projector, checkpoints }, mostPlans);
    const to = mine.at(-1)!.position;
    const done = await pages.write([{ member, mine }], to);
    if (!done) return false;
    member.saved = to;
    member.projection.committed();
    return true;
  };
  const names = async () => (await application.rowsOf('entries')).map(({ entry }) => entry).sort();
  const checkpoint = async () => (await checkpoints.all()).find(({ name }) => name === 'entries')!.position;

  it('is written with its checkpoint, whether its combination of tables has a plan or not', async () => {
    await begin('a', 'b');
    expect(await write([opened('a')])).toBe(true);
    expect(await names()).toEqual(['a']);
    expect(await write([opened('b')], 0)).toBe(true);
    expect(await names()).toEqual(['a', 'b']);
    expect(await checkpoint()).toBe(BigInt(position));
  });

  it('is written if it removes rows too, of one key or of many', async () => {
    await begin('a', 'b', 'c');
    expect(await write([opened('c'), happened('EntryClosed', { entry: 'a' })])).toBe(true);
    expect(await names()).toEqual(['b', 'c']);
    expect(await write([happened('OwnerForgotten', { owner: OWNER }), opened('b')])).toBe(true);
    expect(await names()).toEqual(['b']);
    expect(await checkpoint()).toBe(BigInt(position));
  });

  it('moves its checkpoint if no row has changed', async () => {
    await begin('nothing');
    expect(await write([happened('EntryClosed', { entry: 'nothing' })])).toBe(true);
    expect(await checkpoint()).toBe(BigInt(position));
  });

  it('is not written, rows or checkpoint, once the lease is lost', async () => {
    await begin('d', 'b');
    const before = await checkpoint();
    await new Checkpoints(application.database.projector, randomUUID()).acquire([entries], ['live'], true);
    await expect(write([opened('d')])).rejects.toThrow(LeaseLost);
    await expect(write([opened('d'), happened('EntryClosed', { entry: 'b' })])).rejects.toThrow(LeaseLost);
    expect(await names()).toEqual(['b']);
    expect(await checkpoint()).toBe(before);
  });

  it('is left to the general path if rows must be loaded, a stream is parked, or an event cannot be folded', async () => {
    await begin('b');
    expect(await write([opened('e')])).toBe(false);
    member.parked.set('ledger', { from: 0n, reason: 'parked' });
    expect(await write([happened('EntryChanged', { entry: 'b', amount: 1, note: null })])).toBe(false);
    member.parked.clear();
    const before = await application.rowsOf('entries');
    expect(
      await write([
        happened('EntryChanged', { entry: 'b', amount: 1, note: null }),
        happened('AmountMoved', null as never),
      ]),
    ).toBe(false);
    expect(await application.rowsOf('entries')).toEqual(before);
  });
});
