import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  EventStoreUnavailable,
  type Append,
  type ClaimKey,
  type EventStore,
  type AppendResult,
} from '../../../src/platform/eventstore/port.ts';
import { claimStream } from '../../../src/platform/eventstore/eventstoredb/claim-stream.ts';
import { newAppend, newClaim, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import type { EventLog } from '../../fixtures/eventstoredb/event-log.ts';
import { cancelled, unavailable } from '../../fixtures/eventstoredb/faults.ts';
import type { StandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

const WORKERS = 4;
const TURNS = 3;

const chance = (probability: number) => Math.random() < probability;

/** Calls are late, lost on their way there, or executed with their response lost. */
function trouble(node: StandIn): void {
  node.faults = async () => {
    if (chance(0.3)) await sleep(Math.random() * 20);
    return chance(0.08) ? unavailable() : undefined;
  };
  node.lostReplies = () => (chance(0.08) ? cancelled() : undefined);
}

/** Retries appends like a caller without a response: with the same events. */
async function appendStubbornly(store: EventStore, append: Append): Promise<AppendResult> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await store.append(append);
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable) || tries === 5) throw error;
    }
  }
}

/** The successive holders of a claim, by the log alone. Throws if one took a claim that another held. */
function holdersOf(log: EventLog, claim: ClaimKey): string[] {
  const name = claimStream(claim);
  const holders: string[] = [];
  let holder: string | undefined;
  for (const { stream, metadata } of log.all) {
    const { taken = [], released = [] } = (metadata.length > 0 ? JSON.parse(metadata.toString()) : {}) as {
      taken?: string[];
      released?: string[];
    };
    if (released.includes(name) && holder === stream) holder = undefined;
    if (!taken.includes(name)) continue;
    if (holder !== undefined) throw new Error(`${stream} took what ${holder} had`);
    holder = stream;
    holders.push(stream);
  }
  return holders;
}

describe('EventStoreDB adapter: invariants under faults', () => {
  const { startNode, openStore } = withNode();

  it('never has two holders of a claim in the log, with minimal grace times', async () => {
    const node = await startNode();
    const tenantId = newTenant();
    const claims = [newClaim(tenantId), newClaim(tenantId)];
    trouble(node);
    let won = 0;
    const work = async (store: EventStore) => {
      for (let turn = 0; turn < TURNS; turn += 1) {
        const take = chance(0.5) ? claims : [claims[turn % 2]!];
        const append = newAppend(tenantId, { claim: take });
        const verdict = await appendStubbornly(store, append);
        if (verdict.kind !== 'appended') continue;
        won += 1;
        const release = {
          ...append,
          expectedRevision: verdict.revision,
          events: newEvents(1),
          claim: [],
          release: take,
        };
        expect(await appendStubbornly(store, release)).toMatchObject({ kind: 'appended' });
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, () => work(openStore(node, { claimGraceMs: 30 }))));
    delete node.faults;
    delete node.lostReplies;
    const taken = claims.map((claim) => holdersOf(node.log, claim));
    expect(new Set(taken.flat()).size).toBe(won);
    const store = openStore(node);
    for (const claim of claims) expect(await store.claimHolder(claim)).toBeUndefined();
    await expect(store.append(newAppend(tenantId, { claim: claims }))).resolves.toMatchObject({ kind: 'appended' });
  });

  it('writes every append once and every stream without gaps', async () => {
    const node = await startNode();
    trouble(node);
    const tenantId = newTenant();
    const first = newAppend(tenantId);
    const stores = Array.from({ length: WORKERS }, () => openStore(node));
    const ids: string[] = [];
    await Promise.all(
      stores.map(async (store) => {
        const events = newEvents(2);
        ids.push(...events.map(({ id }) => id));
        for (let expectedRevision = -1n; ;) {
          const verdict = await appendStubbornly(store, { ...first, expectedRevision, events });
          if (verdict.kind === 'appended') return;
          if (verdict.kind === 'wrongRevision') expectedRevision = verdict.actual;
        }
      }),
    );
    delete node.faults;
    delete node.lostReplies;
    const stored = await stores[0]!.readStream(first.stream);
    expect(stored.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(stored.map(({ revision }) => revision)).toEqual(stored.map((_, at) => BigInt(at)));
  });
});
