import { setImmediate } from 'node:timers/promises';
import { nextEntry, type AuditEntry, type ChainHead } from '../domain/audit/entry.ts';
import type { AuditWords } from '../domain/audit/vocabulary.ts';
import type { EventStore, StoredEvent } from '../eventstore/port.ts';
import type { Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';

/** What the chain is computed from. */
export interface ChainSource {
  readonly store: Pick<EventStore, 'readFeed'>;
  readonly key: Buffer;
  readonly words: ReadonlyMap<string, AuditWords>;
}

export interface ReplayedEntry {
  readonly entry: AuditEntry;
  readonly position: Position;
}

/** A stretch of a chain, computed anew from the log. */
export interface ReplayedPage {
  readonly entries: readonly ReplayedEntry[];
  /** The event after the last of these entries is so damaged that no entry can be made of it; the replay ends here. */
  readonly broken: boolean;
  /** Everything in the log up to here has been looked at. */
  readonly position: Position;
}

const PAGE = 2_000;
/** Hashing this many takes a few milliseconds; then other requests get their turn. */
const SLICE = 250;

/**
 * Computes a tenant's chain from the log alone, from a head that stands at a position up to `until` (inclusive), in constant
 * memory. The next page is read while this one is hashed.
 */
export async function* replay(
  { store, key, words }: ChainSource,
  tenantId: TenantId,
  from: { readonly head: ChainHead; readonly position: Position },
  until: Position,
): AsyncGenerator<ReplayedPage> {
  const filter = { tenantId, types: [...words.keys()] };
  let { head, position } = from;
  let next = store.readFeed(position, PAGE, filter);
  for (;;) {
    const page = await next;
    const last = page.position === position || page.position >= until;
    position = page.position;
    if (!last) next = store.readFeed(position, PAGE, filter);
    next.catch(() => undefined); // reported where it is awaited
    const entries: ReplayedEntry[] = [];
    let broken = false;
    for (const event of page.events) {
      if (event.position > until) break;
      const entry = entryOf(key, head, event, words.get(event.type)!);
      broken = entry === undefined;
      if (!entry) break;
      entries.push({ entry, position: event.position });
      head = entry;
      if (entries.length % SLICE === 0) await setImmediate();
    }
    yield { entries, broken, position };
    if (last || broken) return;
  }
}

/** Whoever can write the database can leave an event without an actor or a time. */
function entryOf(key: Buffer, head: ChainHead, event: StoredEvent, words: AuditWords): AuditEntry | undefined {
  try {
    return nextEntry(key, head, event, event, words);
  } catch {
    return undefined;
  }
}
