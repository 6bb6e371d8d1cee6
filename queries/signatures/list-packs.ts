import { z } from 'zod';
import type { SignaturePackRow } from '../../projections/signatures/signature-packs.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** A pack as the interface shows it (choice OP-199). */
export const signaturePackView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    version: z.string(),
    signatureCount: z.int(),
    uploadedAt: z.iso.datetime(),
    uploadedBy: z.uuid().nullable(),
  })
  .meta({ title: 'SignaturePack' });
type SignaturePackView = z.output<typeof signaturePackView>;

/** Versions of packs accumulate over the years: only the newest are listed. */
const MOST = 500;
const SQL = `select *, count(*) over ()::int as total from signature_packs where tenant_id = $1 order by uploaded_at desc, pack_id limit ${MOST}`;

export const listSignaturePacks: Query<undefined, { packs: SignaturePackView[]; total: number }> = async (reads) => {
  const rows = await reads.rows<SignaturePackRow & { total: number }>(SQL);
  const packs = rows.map(
    ({
      pack_id: id,
      name,
      version,
      signature_count: signatureCount,
      uploaded_at: uploadedAt,
      uploaded_by: uploadedBy,
    }) => ({
      id,
      name,
      version,
      signatureCount,
      uploadedAt,
      uploadedBy,
    }),
  );
  return { packs, total: rows[0]?.total ?? 0 };
};
