import { z } from 'zod';
import type { CertificateAuthorityRow } from '../../projections/certificates/certificate-authorities.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** OP-178. */
export const certificateAuthorityView = z.union([
  z.object({ configured: z.literal(false) }),
  z.object({
    configured: z.literal(true),
    subject: z.string(),
    serialNumber: z.string(),
    notBefore: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    fingerprintSha256: z.string(),
    source: z.enum(['uploaded', 'generated']),
  }),
]);

const SQL = `select * from certificate_authorities where tenant_id = $1 and role = 'signing'`;

export const certificateAuthorityStatus: Query<void, z.output<typeof certificateAuthorityView>> = async (reads) => {
  const row = await reads.one<CertificateAuthorityRow>(SQL);
  if (!row) return { configured: false };
  return {
    configured: true,
    subject: row.subject,
    serialNumber: row.serial_number,
    notBefore: row.not_before,
    expiresAt: row.expires_at,
    fingerprintSha256: row.fingerprint_sha256,
    source: row.source,
  };
};
