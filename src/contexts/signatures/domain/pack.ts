import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';

export const signaturePackEvents = defineEvents('signaturePack', {
  /** The signatures of a file come in from now on; `digest` is the SHA-256 of the file, in hex. */
  SignaturePackBegun: {
    version: 1,
    schema: z.object({ packId: uuid(), name: z.string(), version: z.string(), digest: z.string(), begunAt: z.int() }),
    about: { resource: 'signature_pack', id: 'packId' },
    audit: 'signature_pack.begun',
  },
  /** A pack came in whole: of each of its signatures it is known what became of it. */
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
  /** The ids of the versions that are in. */
  readonly uploaded: readonly string[];
  readonly underway: Upload | null;
}

/** A stream for every version of a pack, named after the pack: their signatures are the same ones, so one version comes in at a time. */
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

/** After this time an upload that was not heard of again broke off, and another file may take its place. */
export const UPLOAD_LASTS_MS = 120_000;

/** Whether a file of this digest is what comes in; the same file sent again goes on where the first broke off. */
export const isUnderway = ({ underway }: PackState, packId: string, digest: string): boolean =>
  underway?.packId === packId && underway.digest === digest;
