import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { z } from 'zod';
import {
  certificateAuthorities,
  type CertificateAuthorityRow,
} from '../../projections/certificates/certificate-authorities.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** OP-178. */
export const certificateAuthorityView = z.union([
  z.object({ configured: z.literal(false) }),
  z
    .object({
      configured: z.literal(true),
      subject: z.string(),
      serialNumber: z.string(),
      notBefore: z.iso.datetime(),
      expiresAt: z.iso.datetime(),
      fingerprintSha256: z.string(),
      source: z.enum(['uploaded', 'generated']),
    })
    .meta({ title: 'InstalledCa' }),
]);

type CertificateAuthorityView = z.output<typeof certificateAuthorityView>;

const SQL = `select * from certificate_authorities where tenant_id = $1 and role = 'signing'`;

export const certificateAuthorityStatus: Query<void, CertificateAuthorityView> = async (reads) => {
  const row = await reads.one<CertificateAuthorityRow>(SQL);
  return row ? viewOf(row) : { configured: false };
};

/** The authority that these events installed. */
export function viewOfNewAuthority(events: readonly RecordedEvent[]): CertificateAuthorityView | undefined {
  const row = newRow(certificateAuthorities, { role: 'signing' }, events);
  return row && viewOf(row);
}

const viewOf = (row: CertificateAuthorityRow): CertificateAuthorityView => ({
  configured: true,
  subject: row.subject,
  serialNumber: row.serial_number,
  notBefore: row.not_before,
  expiresAt: row.expires_at,
  fingerprintSha256: row.fingerprint_sha256,
  source: row.source,
});
