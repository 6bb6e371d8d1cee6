import type { PackedSignature } from '../../src/contexts/signatures/domain/pack-content.ts';
import { signatures } from '../../src/contexts/signatures/domain/signature.resource.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, isFailure, type Failure } from '../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import { changedValues } from '../../src/platform/resources/fields.ts';
import { slotFor, slotKind, type SlotPorts } from '../../src/platform/resources/slots.ts';
import type { WithAggregates, WithClaimHolder } from '../ports.ts';

interface ImportSignature {
  /** The same for all versions of the pack. */
  readonly id: string;
  readonly packId: string;
  readonly signature: PackedSignature;
  /** A slot that was free a moment ago, as a hint. */
  readonly slot: number | undefined;
}

interface Facts {
  /** A slot; only new signatures need one. */
  readonly room: { readonly slot?: number } | Failure;
}

type Ports = SlotPorts & WithAggregates & WithClaimHolder;

const { noun } = signatures.declared;
/** An existing signature needs no slot, so none is searched. This is the result if it is deleted before the decision. */
const deletedMeanwhile = conflict('pack_changed');

type Outcome = 'imported' | 'updated' | 'skipped';
const outcome = (result: Outcome) => result;

/** Imports a signature from a pack. After that, the administrator decides whether it is enabled. */
export const importSignature = defineCommand({
  name: 'ImportSignature',
  aggregate: signatures.aggregate,
  stream: ({ id }: ImportSignature, { tenantId }: { tenantId: TenantId }) => signatures.stream(tenantId, id),
  prepare: async ({ id, slot }: ImportSignature, ports: Ports, { tenantId }): Promise<Facts> => {
    if (
      slot !== undefined &&
      (await ports.claimHolder(tenantId, { kind: slotKind(noun), value: String(slot) })) === undefined
    )
      return { room: { slot } };
    const { exists } = await ports.aggregates.load(signatures.aggregate, signatures.stream(tenantId, id));
    return { room: exists ? deletedMeanwhile : await slotFor(signatures.declared, tenantId, ports) };
  },
  whenClaimed: () => 'prepareAgain',
  recall: (_before, [event]) => outcome(event!.type === 'SignatureCreated' ? 'imported' : 'updated'),
  decide({ exists, values }, { id, packId, signature }, _context, { room }: Facts) {
    const said = { ...signature, source: 'pack' as const };
    if (exists) {
      if (Object.keys(changedValues(values, said)).length === 0) return acceptWith(outcome('skipped'), []);
      return acceptWith(outcome('updated'), [
        { type: 'SignatureUpdated', data: { id, ...changedValues(values, { ...said, packId }) } },
      ]);
    }
    if (isFailure(room)) return room;
    const created = { ...said, packId, isEnabled: true };
    return acceptWith(outcome('imported'), [{ type: 'SignatureCreated', data: { id, ...room, ...created } }], {
      claim: signatures.claims({ ...created, ...room }),
    });
  },
});
