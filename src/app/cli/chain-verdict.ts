import type { ChainOwner } from '../../contexts/audit/chain-owners.ts';
import type { AuditVerdict } from '../../contexts/audit/verify.ts';

/** What the verification of one chain found, with the owner's name for operators. */
export interface ChainVerdict {
  readonly owner: string;
  readonly id: string;
  readonly valid: boolean;
  readonly entriesChecked: number;
  readonly reason: AuditVerdict['reason'];
  readonly firstInvalidSequence: AuditVerdict['firstInvalidSequence'];
}

export const verdictOf = (
  { id, name }: ChainOwner,
  { valid, entriesChecked, reason, firstInvalidSequence }: AuditVerdict,
): ChainVerdict => ({ owner: name, id, valid, entriesChecked, reason, firstInvalidSequence });

export function sayVerdict(
  { owner, id, valid, entriesChecked, reason, firstInvalidSequence }: ChainVerdict,
  entries: string,
  say: (line: string) => void,
): void {
  say(
    `${valid ? 'valid  ' : 'BROKEN '} ${owner} ${id}: ${entriesChecked} ${entries}${valid ? '' : `, ${reason} at ${firstInvalidSequence}`}`,
  );
}
