import { isUnderway, signaturePack, signaturePackStream } from '../../src/contexts/signatures/domain/pack.ts';
import { signatures } from '../../src/contexts/signatures/domain/signature.resource.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';

interface RecordSignaturePack {
  /** The pack's, whatever its version. */
  readonly nameId: string;
  readonly digest: string;
  readonly packId: string;
  readonly name: string;
  readonly version: string;
  readonly imported: number;
  readonly updated: number;
  readonly skipped: number;
}

/** After its signatures: an upload that broke off half-way is no pack yet, and may simply be sent again. */
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
