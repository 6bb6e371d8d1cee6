import { signaturePack, signaturePackStream } from '../../src/domain/signatures/pack.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';
import { conflict } from '../../src/kernel/failure.ts';

interface RecordSignaturePack {
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
  stream: ({ packId }: RecordSignaturePack, { tenantId }) => signaturePackStream(tenantId, packId),
  decide: ({ exists }, pack) => (exists ? conflict() : accept([{ type: 'SignaturePackUploaded', data: pack }])),
  freshens: ['signature_packs', 'signatures', 'policy_versions'],
});
