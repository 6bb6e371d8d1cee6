import type { KnownCertificate } from '../../projections/certificates/device-certificates.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import type { RevokedCertificate } from '../../src/platform/pki/revocation-list.ts';

const SQL = `
  select c.value as certificate
    from device_certificates d cross join lateral jsonb_array_elements(d.certificates) c
    join certificate_authorities a on a.tenant_id = d.tenant_id and a.role = 'signing'
   where d.tenant_id = $1 and (c.value->>'endedAt')::timestamptz <= $2::timestamptz and (c.value->>'expiresAt')::timestamptz > $2::timestamptz
     and (c.value->>'issuedAt')::timestamptz >= a.installed_at
   order by c.value->>'endedAt', c.value->>'serialNumber'`;

/** Certificates of the current signing authority that are revoked and have not expired by `now` (ISO 8601). */
export const revokedCertificates: Query<{ now: string }, RevokedCertificate[]> = async (reads, { now }) => {
  const rows = await reads.rows<{ certificate: KnownCertificate }>(SQL, [now]);
  return rows.map(({ certificate: { serialNumber, endedAt, reason } }) => ({
    serialNumber,
    revokedAt: Date.parse(endedAt!),
    ...(reason ? { reason } : {}),
  }));
};
