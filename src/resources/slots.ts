import { freeSeat } from '../domain/employees/seats.ts';
import type { Claim } from '../kernel/command.ts';
import { conflict, type Failure } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyDeclared } from './declaration.ts';
import type { AnyValues } from './fields.ts';
import { inWords } from './names.ts';

export interface SlotPorts {
  claimHolder(tenantId: TenantId, claim: Claim): Promise<string | undefined>;
}

type Bounded = Pick<AnyDeclared, 'noun' | 'most'>;

/**
 * How `most` holds under races: each record holds one of so many numbered slots as a claim, taken in the append that creates
 * it and given up in the one that deletes it. Creating one contends with nobody as long as there is room.
 */
export const slotKind = (noun: string): string => `${noun}.slot`;

/** The claim of a record with these values. One that was created before there was a limit holds none. */
export const slotClaims = ({ noun, most }: Bounded, { slot }: AnyValues): Claim[] =>
  most === undefined || slot === undefined ? [] : [{ kind: slotKind(noun), value: String(slot) }];

/** What a new record needs besides its values: nothing where there is no limit. Who loses the slot to another asks again. */
export async function slotFor({ noun, most }: Bounded, tenantId: TenantId, ports: SlotPorts): Promise<{ readonly slot?: number } | Failure> {
  if (most === undefined) return {};
  const isHeld = async (slot: number) => (await ports.claimHolder(tenantId, { kind: slotKind(noun), value: String(slot) })) !== undefined;
  const slot = await freeSeat({ granted: most, everGranted: most }, isHeld);
  return slot === undefined ? noSlotLeft({ noun, most }) : { slot };
}

export const noSlotLeft = ({ noun, most }: Bounded): Failure => conflict(`no more than ${most} ${inWords(noun)}s`);
