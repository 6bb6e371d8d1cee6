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
export async function slotFor({ noun, most }: Bounded, tenantId: TenantId, ports: SlotPorts, likely?: number): Promise<{ readonly slot?: number } | Failure> {
  if (most === undefined) return {};
  const isHeld = async (slot: number) => (await ports.claimHolder(tenantId, { kind: slotKind(noun), value: String(slot) })) !== undefined;
  if (likely !== undefined && !(await isHeld(likely))) return { slot: likely };
  const slot = await freeSeat({ granted: most, everGranted: most }, isHeld);
  return slot === undefined ? noSlotLeft({ noun, most }) : { slot };
}

const AT_ONCE = 250;

/** Every slot that nobody held a moment ago: for many records at once, which would otherwise all search for one. */
export async function slotsLeft({ noun, most = 0 }: Bounded, tenantId: TenantId, ports: SlotPorts): Promise<number[]> {
  const left: number[] = [];
  for (let from = 1; from <= most; from += AT_ONCE) {
    const page = Array.from({ length: Math.min(AT_ONCE, most - from + 1) }, (_, at) => from + at);
    const held = await Promise.all(page.map((slot) => ports.claimHolder(tenantId, { kind: slotKind(noun), value: String(slot) })));
    left.push(...page.filter((_, at) => held[at] === undefined));
  }
  return left;
}

export const noSlotLeft = ({ noun, most }: Bounded): Failure => conflict(`no more than ${most} ${inWords(noun)}s`);
