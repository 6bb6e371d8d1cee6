import { signaturePackEvents } from '../../src/contexts/signatures/domain/pack.ts';
import {
  at,
  defineReadModel,
  id,
  integer,
  nullable,
  text,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  pack_id: id,
  name: text,
  version: text,
  signature_count: integer,
  uploaded_at: timestamp,
  uploaded_by: nullable(id),
};
export type SignaturePackRow = Row<{ columns: typeof columns }>;

/** All uploaded packs: `GET /signatures/packs`. */
export const signaturePacks = defineReadModel({
  name: 'signature_packs',
  version: 1,
  lane: 'main',
  columns,
  key: ['pack_id'],
  indexes: [['uploaded_at desc', 'pack_id']],
  families: [signaturePackEvents],
  on: {
    SignaturePackUploaded: (event) => {
      const { packId, name, version, imported, updated, skipped } = event.data;
      const row: SignaturePackRow = {
        pack_id: packId,
        name,
        version,
        signature_count: imported + updated + skipped,
        uploaded_at: at(event),
        uploaded_by: event.metadata.actor.id,
      };
      return { key: { pack_id: packId }, fold: () => row };
    },
  },
});
