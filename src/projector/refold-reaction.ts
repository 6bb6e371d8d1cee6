import type pg from 'pg';
import { transaction } from '../database/transaction.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { EventStore } from '../eventstore/port.ts';
import type { Position, Recorded } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyReaction } from '../kernel/reaction.ts';
import { ReactionPage } from './reaction-page.ts';
import { ReactionState } from './reaction-state.ts';

export interface RefoldParts {
  readonly store: Pick<EventStore, 'readFeed'>;
  readonly codec: EventCodec;
  readonly pool: pg.Pool;
}

/** Which events count as worked. */
export interface WorkedSoFar {
  readonly upTo: Position;
  /** Tenants that are worked apart, and have come less far. */
  readonly behind: ReadonlyMap<TenantId, Position>;
  /** Positions of events that are parked. */
  readonly parked: ReadonlySet<Position>;
}

const PAGE = 500;

/**
 * Makes what a reaction remembers anew from the log, as if it had worked everything so far. No effect is had: what the events asked for
 * was had when they were first worked. An event that cannot be folded is left out, as if it had been skipped.
 */
export async function refoldReaction(
  { store, codec, pool }: RefoldParts,
  reaction: AnyReaction,
  worked: WorkedSoFar,
): Promise<void> {
  if (!reaction.state) return;
  const state = new ReactionState(reaction);
  await transaction(pool, (client) => state.clear(client));
  const counts = (event: { type: string; tenantId: TenantId; position: Position }) =>
    event.type in reaction.on &&
    event.position <= (worked.behind.get(event.tenantId) ?? worked.upTo) &&
    !worked.parked.has(event.position);
  for (let from: Position = 0n; from < worked.upTo;) {
    const page = await store.readFeed(from, PAGE);
    const decoded = await codec.decodeForFollowers(page.events.filter(counts));
    for (const events of byTenant(decoded.filter((event) => event !== undefined)))
      await foldInto(pool, state, reaction, events);
    if (page.events.length < PAGE) return;
    from = page.position;
  }
}

function byTenant(events: readonly Recorded[]): Iterable<Recorded[]> {
  const tenants = new Map<TenantId, Recorded[]>();
  for (const event of events) tenants.set(event.tenantId, [...(tenants.get(event.tenantId) ?? []), event]);
  return tenants.values();
}

async function foldInto(
  pool: pg.Pool,
  state: ReactionState,
  reaction: AnyReaction,
  events: readonly Recorded[],
): Promise<void> {
  for (let rest = events; rest.length > 0;) {
    const page = new ReactionPage(reaction, rest);
    const poison = page.fold(await state.load(pool, page.missing));
    const good = poison ? rest.indexOf(poison.event) : rest.length;
    await transaction(pool, (client) => state.save(client, [page.first(good).work]));
    rest = rest.slice(good + 1);
  }
}
