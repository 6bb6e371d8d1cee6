import type { EventCodec } from '../../../platform/eventstore/codec.ts';
import type { StoredEvent } from '../../../platform/eventstore/port.ts';
import type { Position, RecordedEvent } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { CatchUpSubscription } from '../../../platform/projector/catch-up-subscription.ts';

export interface TenantLogPage {
  readonly events: readonly StoredEvent[];
  /** Everything of the tenant up to here is in the page, or before it. */
  readonly position: Position;
  /** There may be more: read on at once. */
  readonly more: boolean;
}

interface LogSource {
  readonly subscription: Pick<CatchUpSubscription, 'head' | 'readOf'>;
  readonly codec: Pick<EventCodec, 'decodeForFollowers'>;
}

/** The events of one tenant and some types, in the order of the log. Keeps nothing: the log is the buffer. */
export class TenantLog {
  readonly #source: LogSource;
  readonly #tenantId: TenantId;
  readonly #types: readonly string[];

  constructor(source: LogSource, tenantId: TenantId, types: ReadonlySet<string>) {
    this.#source = source;
    this.#tenantId = tenantId;
    this.#types = [...types];
  }

  async next(after: Position, limit: number): Promise<TenantLogPage> {
    const { subscription } = this.#source;
    // Events up to this position were in the log before the read began.
    const known = subscription.head;
    const filter = { tenantId: this.#tenantId, types: this.#types };
    const { events, position, more } = await subscription.readOf(after, limit, filter);
    if (events.length >= limit) return { events, position: events.at(-1)!.position, more: true };
    if (more) return { events, position, more };
    return { events, position: position > known ? position : known > after ? known : after, more: false };
  }

  /**
   * Decrypts with the keys that exist now. Values of erased people are gone, also if another reader of this process has
   * decrypted the same event before the erasure.
   */
  decode(events: readonly StoredEvent[]): Promise<(RecordedEvent | undefined)[]> {
    return this.#source.codec.decodeForFollowers(events);
  }

  /** Counts events in (after, to]. */
  async count(after: Position, to: Position, signal: AbortSignal): Promise<number> {
    let [counted, position, more] = [0, after, true];
    while (more && position < to && !signal.aborted) {
      const page = await this.next(position, 1_000);
      counted += page.events.filter((event) => event.position <= to).length;
      ({ position, more } = page);
    }
    return counted;
  }
}
