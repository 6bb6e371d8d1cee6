import { setImmediate } from 'node:timers/promises';
import type { ChainKey } from './domain/chain-key.ts';
import { entryAfter, entryHash, type ChainHead } from './domain/entry.ts';
import type { AuditTerms } from './domain/vocabulary.ts';
import type { EventStore, StoredEvent } from '../../platform/eventstore/port.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { SerializedRows } from './serialized-rows.ts';

/** What a chain is computed from. */
export interface ChainSource {
  readonly store: Pick<EventStore, 'readAll'>;
  readonly key: ChainKey;
  readonly words: ReadonlyMap<string, AuditTerms>;
  /** Entries that are read and compared at a time. */
  readonly pageSize?: number;
}

/** What is kept of an entry: enough to compare it, little enough to have many. */
export interface ReplayedEntry extends ChainHead {
  readonly position: Position;
  readonly id: string;
}

/** A stretch of a chain, computed anew from the log. */
export interface ReplayedPage {
  readonly entries: readonly ReplayedEntry[];
  /** Their rows as they have to stand in the table, printed. */
  readonly rows: SerializedRows;
  /** Everything in the log up to here has been looked at. */
  readonly position: Position;
  readonly last: boolean;
  /** The event after the last of these entries, when it is so damaged that no entry can be made of it. The replay ends there. */
  readonly broken: StoredEvent | undefined;
}

const PAGE = 1_000;
/** Hashing this many takes a few milliseconds; then others get their turn. */
const SLICE = 250;

/**
 * Computes a tenant's chain from the log alone, from a head that stands at a position up to `until` (inclusive), in constant
 * memory. The next page is read while this one is hashed. `asWritten` takes the text of an event's data for canonical, as the
 * house writes it: quicker, and wrong about an event that somebody else has written.
 */
export async function* replayChain(
  { store, key, words, pageSize = PAGE }: ChainSource,
  tenantId: TenantId,
  from: { readonly head: ChainHead; readonly position: Position },
  until: Position,
  asWritten = false,
): AsyncGenerator<ReplayedPage> {
  const filter = { tenantId, types: [...words.keys()] };
  let { head, position } = from;
  let next = store.readAll(position, pageSize, filter);
  for (;;) {
    const page = await next;
    const last = page.position === position || page.position >= until;
    position = page.position;
    if (!last) next = store.readAll(position, pageSize, filter);
    next.catch(() => undefined); // reported where it is awaited
    const entries: ReplayedEntry[] = [];
    const rows = new SerializedRows();
    let broken: StoredEvent | undefined;
    for (const event of page.events) {
      if (event.position > until) break;
      const entry = entryOf(key, head, event, words.get(event.type)!, rows, asWritten);
      if (!entry) {
        broken = event;
        break;
      }
      entries.push(entry);
      head = entry;
      if (entries.length % SLICE === 0) await setImmediate();
    }
    yield { entries, rows, position, last: last || broken !== undefined, broken };
    if (last || broken) return;
  }
}

/** Undefined where somebody left an event without an actor or a time: whoever can write the database can do that. */
function entryOf(
  key: ChainKey,
  head: ChainHead,
  event: StoredEvent,
  words: AuditTerms,
  rows: SerializedRows,
  asWritten: boolean,
): ReplayedEntry | undefined {
  try {
    const entry = entryAfter(head, event, asWritten ? event : { version: event.version, data: event.data }, words);
    const hash = entryHash(key, entry);
    rows.add(entry, hash, event.position);
    return { sequence: entry.sequence, hash, position: event.position, id: event.id };
  } catch {
    return undefined;
  }
}
