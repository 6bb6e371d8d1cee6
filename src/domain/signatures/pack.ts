import { z } from 'zod';
import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import { defineEvents } from '../../kernel/event.ts';
import { uuid, type TenantId } from '../../kernel/ids.ts';

/** A pack came in whole: of each of its signatures it is known what became of it. */
export const signaturePackEvents = defineEvents('signaturePack', {
  SignaturePackUploaded: {
    version: 1,
    schema: z.object({ packId: uuid(), name: z.string(), version: z.string(), imported: z.int(), updated: z.int(), skipped: z.int() }),
    about: { resource: 'signature_pack', id: 'packId' },
    audit: 'signature_pack.uploaded',
  },
});

/** A stream a pack, named after its name and version: of many who upload it at once one does. */
export const signaturePack = defineAggregate(signaturePackEvents, { exists: false }, () => ({ exists: true }));
export const signaturePackStream = (tenantId: TenantId, packId: string): string => streamName('signaturePack', tenantId, packId);
