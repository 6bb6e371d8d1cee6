import { serverCertificateEvents } from '../../src/contexts/certificates/domain/server-certificate.ts';
import {
  at,
  defineReadModel,
  id,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  /** The listener has one certificate. */
  role: text as Column<'listener'>,
  tenant: id,
  certificate_pem: text,
  private_key_ref: text,
  installed_at: timestamp,
};
export type ServerCertificateRow = Row<{ columns: typeof columns }>;

/** The certificate of the TLS listener on every node. Without a row, the files in DATA_DIR/tls are used. */
export const serverCertificates = defineReadModel({
  name: 'server_certificates',
  version: 1,
  lane: 'main',
  scope: 'installation',
  columns,
  key: ['role'],
  families: [serverCertificateEvents],
  on: {
    ServerCertificateInstalled: (event) => ({
      key: { role: 'listener' },
      fold: () => ({
        role: 'listener' as const,
        tenant: event.tenantId,
        certificate_pem: event.data.certificatePem,
        private_key_ref: event.data.privateKeyRef,
        installed_at: at(event),
      }),
    }),
  },
});
