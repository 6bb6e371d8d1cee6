import type { Claim } from '../kernel/command.ts';
import { conflict, type Failure } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { FreeNumbers } from '../numbers/number-finder.ts';
import type { AnyDeclared } from './declaration.ts';
import type { AnyValues } from './fields.ts';
import { inWords } from './names.ts';

export interface SlotPorts {
  readonly freeNumbers: FreeNumbers;
}

type Bounded = Pick<AnyDeclared, 'noun' | 'most'>;

/**
 * Slots are numbered (`src/platform/numbers/number-search.ts`). Each record of a bounded collection holds one as a
 * claim.
 */
export const slotKind = (noun: string): string => `${noun}.slot`;

/** The slot claim of a record with these values. A record that was created before there was a limit has none. */
export const slotClaims = ({ noun, most }: Bounded, { slot }: AnyValues): Claim[] =>
  most === undefined || slot === undefined ? [] : [{ kind: slotKind(noun), value: String(slot) }];

/**
 * Finds a slot for a new record; without a limit none is needed. If another caller claims it first, the command
 * prepares again.
 */
export async function slotFor(
  { noun, most }: Bounded,
  tenantId: TenantId,
  { freeNumbers }: SlotPorts,
): Promise<{ readonly slot?: number } | Failure> {
  if (most === undefined) return {};
  const slot = await freeNumbers.one(tenantId, slotKind(noun), { granted: most, everGranted: most });
  return slot === undefined ? noSlotLeft({ noun, most }) : { slot };
}

/** Slots that were free a moment ago, for several new records: as many as wanted, or all that are left. */
export const slotsLeft = async (
  { noun, most = 0 }: Bounded,
  tenantId: TenantId,
  { freeNumbers }: SlotPorts,
  wanted: number,
): Promise<readonly number[]> =>
  wanted === 0
    ? []
    : freeNumbers.several(tenantId, slotKind(noun), { granted: most, everGranted: most }, Math.min(wanted, most));

export const noSlotLeft = ({ noun, most }: Bounded): Failure =>
  conflict('limit_reached', `no more than ${most} ${inWords(noun)}s`);
