import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import { at, defineReadModel, text, timestamp, type Column, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  /** A tenant has one signing authority, and possibly former ones whose devices are still in use. */
  role: text as Column<'signing'>,
  subject: text,
  serial_number: text,
  not_before: timestamp,
  expires_at: timestamp,
  fingerprint_sha256: text,
  source: text as Column<'generated' | 'uploaded'>,
  installed_at: timestamp,
};
export type CertificateAuthorityRow = Row<{ columns: typeof columns }>;

const signing = { role: 'signing' as const };

/** The authority that a tenant signs devices with; no row if there is none. */
export const certificateAuthorities = defineReadModel({
  name: 'certificate_authorities',
  version: 1,
  lane: 'main',
  columns,
  key: ['role'],
  families: [tenantEvents],
  on: {
    CertificateAuthorityInstalled: (event) => ({
      key: signing,
      fold: () => {
        const { subject, serialNumber, notBefore, expiresAt, fingerprintSha256, source } = event.data;
        return {
          ...signing,
          subject,
          serial_number: serialNumber,
          not_before: notBefore,
          expires_at: expiresAt,
          fingerprint_sha256: fingerprintSha256,
          source,
          installed_at: at(event),
        };
      },
    }),
    CertificateAuthorityRemoved: () => ({ key: signing, fold: () => undefined }),
  },
});
