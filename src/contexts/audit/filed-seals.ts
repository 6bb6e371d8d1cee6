import type { SealedHead } from './domain/sealed-head.ts';
import { isUuid, type TenantId } from '../../platform/kernel/ids.ts';

export type FiledSeal = SealedHead & { readonly tenantId: TenantId };

/** As much as one text can hold, about: the file grows with the number of chains, and a service log with time. */
export const HEADS_BYTES = 500 * 1024 ** 2;

const BYTE_ORDER_MARK = /^\uFEFF/;
/** The beginning of an object without its end, or zeros in place of what did not reach the disk. */
const TORN = /^(?:\{(?:.*[^}\s])?|\0.*)\s*$/s;

/** The seals in a text: of `audit-heads.jsonl`, of a copy of it, or of a service log. */
export class FiledSeals {
  readonly #lines: readonly string[];

  constructor(text: string) {
    this.#lines = text
      .replace(BYTE_ORDER_MARK, '')
      .split('\n')
      .filter((line) => line.trim() !== '');
  }

  /** All seals by ascending sequence, genuine or not. */
  all(): FiledSeal[] {
    return bySequence(this.#lines.flatMap(parsed));
  }

  /** A tenant's seals by ascending sequence, genuine or not. */
  sealsOf(tenantId: TenantId): Partial<FiledSeal>[] {
    const lines = this.#lines.filter((line) => line.includes(tenantId));
    return bySequence(lines.flatMap(parsed).filter((seal) => seal.tenantId === tenantId));
  }

  /** The tenants that have a seal. */
  owners(): TenantId[] {
    return [...this.newest().keys()];
  }

  /** The newest seal of every tenant. */
  newest(): Map<TenantId, FiledSeal> {
    return new Map(this.all().map((seal) => [seal.tenantId, seal]));
  }

  /** Every tenant's seals by ascending sequence, genuine or not. */
  byOwner(): Map<TenantId, FiledSeal[]> {
    const seals = new Map<TenantId, FiledSeal[]>();
    for (const seal of this.all()) {
      const before = seals.get(seal.tenantId);
      if (before) before.push(seal);
      else seals.set(seal.tenantId, [seal]);
    }
    return seals;
  }

  /** How many lines are neither a seal nor what a crash left of one. */
  damagedLines(): number {
    return this.#lines.filter((line) => !TORN.test(line) && parsed(line).length === 0).length;
  }
}

const bySequence = (seals: readonly FiledSeal[]): FiledSeal[] =>
  seals.toSorted((one, other) => one.sequence - other.sequence);

/** The id of an owner is a UUID. A database refuses other texts, and a look at it would end there. */
function parsed(line: string): FiledSeal[] {
  try {
    const seal = JSON.parse(line) as FiledSeal | null;
    return typeof seal?.sequence === 'number' && isUuid(seal.tenantId) ? [seal] : [];
  } catch {
    return [];
  }
}
