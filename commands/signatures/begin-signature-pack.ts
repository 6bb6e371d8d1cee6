import {
  isUnderway,
  signaturePack,
  signaturePackStream,
  UPLOAD_LASTS_MS,
} from '../../src/contexts/signatures/domain/pack.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';

interface BeginSignaturePack {
  /** Id of the pack's name, the same for all versions. */
  readonly nameId: string;
  readonly packId: string;
  readonly name: string;
  readonly version: string;
  readonly digest: string;
}

/**
 * Issued before the signatures of a pack: of two concurrent files of one pack, only one is imported, and the other
 * leaves no signature behind.
 */
export const beginSignaturePack = defineCommand({
  name: 'BeginSignaturePack',
  aggregate: signaturePack,
  stream: ({ nameId }: BeginSignaturePack, { tenantId }) => signaturePackStream(tenantId, nameId),
  decide: (state, { packId, name, version, digest }, { now }) => {
    if (state.uploaded.includes(packId)) return conflict();
    const lasts = state.underway !== null && now < state.underway.begunAt + UPLOAD_LASTS_MS;
    if (lasts && isUnderway(state, packId, digest)) return accept([]);
    if (lasts) return conflict('pack_upload_running');
    return accept([{ type: 'SignaturePackBegun', data: { packId, name, version, digest, begunAt: now } }]);
  },
});
