import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';

export const signaturePackEvents = defineEvents('signaturePack', {
  /** The import of a file's signatures has begun. `digest` is the SHA-256 of the file, in hex. */
  SignaturePackBegun: {
    version: 1,
    schema: z.object({ packId: uuid(), name: z.string(), version: z.string(), digest: z.string(), begunAt: z.int() }),
    about: { resource: 'signature_pack', id: 'packId' },
    audit: 'signature_pack.begun',
  },
  /** The import of a pack is complete: the outcome of every signature is known. */
  SignaturePackUploaded: {
    version: 1,
    schema: z.object({
      packId: uuid(),
      name: z.string(),
      version: z.string(),
      imported: z.int(),
      updated: z.int(),
      skipped: z.int(),
    }),
    about: { resource: 'signature_pack', id: 'packId' },
    audit: 'signature_pack.uploaded',
  },
});

interface Upload {
  readonly packId: string;
  readonly digest: string;
  readonly begunAt: number;
}

interface PackState {
  /** Ids of the imported versions. */
  readonly uploaded: readonly string[];
  readonly underway: Upload | null;
}

/**
 * One stream for all versions of a pack, named after the pack. Versions share their signatures, so only one version is
 * imported at a time.
 */
export const signaturePack = defineAggregate(
  signaturePackEvents,
  { uploaded: [], underway: null } as PackState,
  (state, event) =>
    event.type === 'SignaturePackBegun'
      ? { ...state, underway: event.data }
      : { uploaded: [...state.uploaded, event.data.packId], underway: null },
);
export const signaturePackStream = (tenantId: TenantId, nameId: string): string =>
  streamName('signaturePack', tenantId, nameId);

/** An upload without progress for this time is abandoned, and another file may be imported. */
export const UPLOAD_LASTS_MS = 120_000;

/** Whether a file with this digest is being imported. Sending the same file again continues the import. */
export const isUnderway = ({ underway }: PackState, packId: string, digest: string): boolean =>
  underway?.packId === packId && underway.digest === digest;
