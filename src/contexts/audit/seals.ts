import type { ChainKey } from './domain/chain-key.ts';
import { auditHeadEvents, sealSchema } from './domain/events.ts';
import { auditHeadStream, isGenuineSeal, UNSEALED, type SealedHead } from './domain/sealed-head.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { Fault, FaultReason } from './diagnosis.ts';

const PAGE = 1_000;

/** An event of another type or version is not a seal, whatever its data. */
const SEAL = { type: 'AuditHeadSealed', version: auditHeadEvents.definitions.AuditHeadSealed.version } as const;

/**
 * The events on a tenant's seal stream up to a position (inclusive), oldest first, genuine or not; undefined for an
 * event that is not a seal.
 */
export async function* sealsInLog(
  store: Pick<EventStore, 'readStream'>,
  tenantId: TenantId,
  until: Position,
): AsyncGenerator<unknown> {
  for (let from = 0n; ;) {
    const page = await store.readStream(auditHeadStream(tenantId), { from, limit: PAGE });
    for (const { position, type, version, data } of page)
      if (position <= until) yield type === SEAL.type && version === SEAL.version ? data : undefined;
    if (page.length < PAGE) return;
    from = page.at(-1)!.revision + 1n;
  }
}

/** What has the form of a seal and was made with the key; undefined for anything else. */
export function genuineSeal(key: ChainKey, tenantId: TenantId, seal: unknown): SealedHead | undefined {
  const { success, data } = sealSchema.safeParse(seal);
  return success && isGenuineSeal(key, tenantId, data) ? data : undefined;
}

/** The highest sequence of the genuine seals among these; 0 if there is none. */
export const sealedUpTo = (key: ChainKey, tenantId: TenantId, seals: readonly unknown[]): number =>
  Math.max(0, ...seals.map((seal) => genuineSeal(key, tenantId, seal)?.sequence ?? 0));

/** The same for the same seal. Every field counts: of a line that was changed, the MAC may be that of a seal. */
export const textOfSeal = (seal: unknown): string => {
  const { sequence, hash, position, previous, mac } = (seal ?? {}) as Partial<SealedHead>;
  return JSON.stringify([sequence, hash, position, previous, mac]);
};

/**
 * Checks a chain against the heads that were sealed while it grew. If table and log were changed in the same way, only
 * a seal reveals it.
 */
export class Seals {
  readonly #key: ChainKey;
  readonly #tenantId: TenantId;
  readonly #linked: boolean;
  readonly #source: AsyncIterator<unknown> | Iterator<unknown>;
  #next: SealedHead | undefined;
  #newest = UNSEALED;
  #checked = 0;
  /** A seal that is not genuine, or one that is missing between two others. Reported only if nothing worse is found. */
  damage: Fault | undefined;

  private constructor(
    key: ChainKey,
    tenantId: TenantId,
    source: AsyncIterator<unknown> | Iterator<unknown>,
    linked: boolean,
  ) {
    this.#key = key;
    this.#tenantId = tenantId;
    this.#source = source;
    this.#linked = linked;
  }

  /** `linked`: every seal contains the MAC of the previous one, so none may be missing in between. */
  static async open(
    key: ChainKey,
    tenantId: TenantId,
    source: AsyncIterator<unknown> | Iterator<unknown>,
    linked: boolean,
  ): Promise<Seals> {
    const seals = new Seals(key, tenantId, source, linked);
    await seals.#advance();
    return seals;
  }

  /**
   * The first sealed head that contradicts the next entries. Entries must be passed in order; `hashOf` returns
   * undefined beyond them.
   */
  async contradiction(
    hashOf: (sequence: number) => string | undefined,
  ): Promise<(Fault & { readonly sealed: number }) | undefined> {
    for (let seal = this.#next; seal; seal = this.#next) {
      const hash = hashOf(seal.sequence);
      if (!hash) return undefined;
      if (hash !== seal.hash) return { sequence: this.#checked + 1, reason: 'head_mismatch', sealed: seal.sequence };
      this.#checked = seal.sequence;
      await this.#advance();
    }
    return undefined;
  }

  /** True if a seal covers an entry that the log does not contain. */
  get unmet(): boolean {
    return this.#next !== undefined;
  }

  /** The highest sequence of the genuine seals read so far. */
  get sealed(): number {
    return (this.#next ?? this.#newest).sequence;
  }

  async #advance(): Promise<void> {
    if (this.#next) this.#newest = this.#next;
    this.#next = undefined;
    while (!this.#next) {
      const { value, done } = await this.#source.next();
      if (done) return;
      const genuine = genuineSeal(this.#key, this.#tenantId, value);
      if (!genuine) this.#damaged('seal_changed');
      else if (this.#linked && genuine.previous !== this.#newest.mac) this.#damaged('seal_missing');
      if (genuine && genuine.sequence > this.#newest.sequence) this.#next = genuine;
    }
  }

  #damaged(reason: FaultReason): void {
    this.damage ??= { sequence: this.#newest.sequence + 1, reason };
  }
}
