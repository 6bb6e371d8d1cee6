import { isUnderway, signaturePack, signaturePackStream } from '../../src/contexts/signatures/domain/pack.ts';
import { signatures } from '../../src/contexts/signatures/domain/signature.resource.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';

interface RecordSignaturePack {
  /** Id of the pack's name, the same for all versions. */
  readonly nameId: string;
  readonly digest: string;
  readonly packId: string;
  readonly name: string;
  readonly version: string;
  readonly imported: number;
  readonly updated: number;
  readonly skipped: number;
}

/** Issued after the signatures of a pack. An interrupted upload is not a pack yet and can be sent again. */
export const recordSignaturePack = defineCommand({
  name: 'RecordSignaturePack',
  aggregate: signaturePack,
  stream: ({ nameId }: RecordSignaturePack, { tenantId }) => signaturePackStream(tenantId, nameId),
  decide: (state, { packId, name, version, digest, imported, updated, skipped }) => {
    if (!isUnderway(state, packId, digest)) return conflict();
    return accept([{ type: 'SignaturePackUploaded', data: { packId, name, version, imported, updated, skipped } }]);
  },
  freshens: ['signature_packs', signatures.model.name, 'policy_versions'],
});
