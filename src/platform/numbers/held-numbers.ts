import type { Claim } from '../kernel/command.ts';
import type { Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { TenantReads } from '../kernel/query.ts';
import type { ReadModelName } from '../kernel/read-model-name.ts';
import { CLAIMED_NUMBERS } from './claimed-numbers.ts';

/** The number range of one kind in one tenant: the seats of its license, the slots of one of its collections. */
export interface Numbering {
  readonly tenantId: TenantId;
  readonly kind: string;
}

export interface HeldNumbers {
  heldAmong(numbering: Numbering, numbers: readonly number[]): Promise<ReadonlySet<number>>;
}

/** Held numbers from the read side: thousands in one query, but only as current as the projection. */
export interface ProjectedNumbers extends HeldNumbers {
  /**
   * Waits until the read side shows everything that was in the log at the time of the call. Returns false if that takes
   * too long, and at once while the read side stands still since it took too long.
   */
  catchUp(): Promise<boolean>;
}

interface HolderLookup {
  claimHolders(tenantId: TenantId, claims: readonly Claim[]): Promise<readonly (string | undefined)[]>;
}

/** Held numbers from the claims: always current, one claim look-up per number. */
export const heldNumbersFromClaims = ({ claimHolders }: HolderLookup): HeldNumbers => ({
  async heldAmong({ tenantId, kind }, numbers) {
    const holders = await claimHolders(
      tenantId,
      numbers.map((number) => ({ kind, value: String(number) })),
    );
    return new Set(numbers.filter((_, at) => holders[at] !== undefined));
  },
});

interface ReadSide {
  vitalReads(tenantId: TenantId): TenantReads;
  readonly freshness: {
    waitFor(models: readonly ReadModelName[], position: Position): Promise<boolean>;
    positionOf(model: string): Position | undefined;
  };
}

/** How long a read side that stands still is not waited for again. In a process that does not project, it looks so. */
const STANDS_STILL_MS = 5_000;

/** The table of `projections/tenants/claimed-numbers.ts`, which `held_numbers` reads (migration 046). */
const HELD = `select coalesce(array_agg(number), '{}') as held from held_numbers($2, $3::int[]) as number where $1::uuid is not null`;

export function heldNumbersFromReadModel(
  { vitalReads, freshness }: ReadSide,
  head: () => Promise<Position>,
): ProjectedNumbers {
  let stoodStill: { readonly at: Position | undefined; readonly until: number } | undefined;
  return {
    async heldAmong({ tenantId, kind }, numbers) {
      const row = await vitalReads(tenantId).figures<{ held: number[] }>(HELD, [kind, numbers]);
      return new Set(row!.held);
    },
    async catchUp() {
      const before = freshness.positionOf(CLAIMED_NUMBERS);
      // Callers that lose a race search several times: each waiting anew would use up the time of their requests.
      if (stoodStill?.at === before && performance.now() < (stoodStill?.until ?? 0)) return false;
      const isCurrent = await freshness.waitFor([CLAIMED_NUMBERS], await head());
      const at = freshness.positionOf(CLAIMED_NUMBERS);
      stoodStill = isCurrent || at !== before ? undefined : { at, until: performance.now() + STANDS_STILL_MS };
      return isCurrent;
    },
  };
}
