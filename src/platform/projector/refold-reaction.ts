import type pg from 'pg';
import { transaction } from '../database/transaction.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { EventStore } from '../eventstore/port.ts';
import type { Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyReaction } from '../kernel/reaction.ts';
import { foldWithoutEffects } from './fold-without-effects.ts';
import { ReactionState } from './reaction-state.ts';

export interface RefoldParts {
  readonly store: Pick<EventStore, 'readAll'>;
  readonly codec: EventCodec;
  readonly pool: pg.Pool;
}

/** The events that count as worked. */
export interface ProcessedSoFar {
  readonly upTo: Position;
  /** Tenants that are set aside, with positions before `upTo`. */
  readonly behind: ReadonlyMap<TenantId, Position>;
  /** Positions of events that are parked. */
  readonly parked: ReadonlySet<Position>;
}

const PAGE = 500;

/**
 * Rebuilds a reaction's state from the log, as if it had worked everything so far. Runs no effects: they ran when the
 * events were first worked. An event that cannot be folded is left out, as if it had been skipped.
 */
export async function refoldReaction(
  { store, codec, pool }: RefoldParts,
  reaction: AnyReaction,
  worked: ProcessedSoFar,
): Promise<void> {
  if (!reaction.state) return;
  const state = new ReactionState(reaction);
  await transaction(pool, (client) => state.clear(client));
  const counts = (event: { type: string; tenantId: TenantId; position: Position }) =>
    event.type in reaction.on &&
    event.position <= (worked.behind.get(event.tenantId) ?? worked.upTo) &&
    !worked.parked.has(event.position);
  for (let from: Position = 0n; from < worked.upTo;) {
    const page = await store.readAll(from, PAGE);
    const decoded = await codec.decodeForFollowers(page.events.filter(counts));
    const events = decoded.filter((event) => event !== undefined);
    const { works } = await foldWithoutEffects({ reaction, state, pool }, events, 'leave out the event');
    await transaction(pool, (client) => state.save(client, works));
    if (page.events.length < PAGE && !page.more) return;
    from = page.position;
  }
}
