import { setImmediate } from 'node:timers/promises';
import type { ChainKey } from './domain/chain-key.ts';
import { entryAfter, entryHash, type ChainHead } from './domain/entry.ts';
import type { AuditTerms } from './domain/vocabulary.ts';
import type { EventStore, StoredEvent } from '../../platform/eventstore/port.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { SerializedRows } from './serialized-rows.ts';

/** The input that a chain is computed from. */
export interface ChainSource {
  readonly store: Pick<EventStore, 'readAll'>;
  readonly key: ChainKey;
  readonly words: ReadonlyMap<string, AuditTerms>;
  /** Entries that are read and compared at a time. */
  readonly pageSize?: number;
}

/** The part of an entry that is needed to compare it; small, because many are kept. */
export interface ReplayedEntry extends ChainHead {
  readonly position: Position;
  readonly id: string;
}

/** A part of a chain, recomputed from the log. */
export interface ReplayedPage {
  readonly entries: readonly ReplayedEntry[];
  /** The serialized rows that the table should contain. */
  readonly rows: SerializedRows;
  /** Position up to which the log has been read. */
  readonly position: Position;
  readonly last: boolean;
  /** The event after the last of these entries, if it is too damaged to make an entry of. The replay ends there. */
  readonly broken: StoredEvent | undefined;
}

const PAGE = 1_000;
/** Entries hashed before yielding to the event loop: a few milliseconds. */
const SLICE = 250;

/**
 * Computes a tenant's chain from the log alone, from `from.head` at `from.position` up to `until` (inclusive), in
 * constant memory. The next page is read while this one is hashed.
 *
 * `asWritten` assumes that the stored text of an event's data is already canonical, as the application writes it. That
 * is faster, but wrong for an event that was written by something else.
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

/** Returns undefined for an event without an actor or a time, which only direct writes to the database can produce. */
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
