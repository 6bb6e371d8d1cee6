import type { ServerCertificateRow } from '../../projections/certificates/server-certificates.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Asked as the installation: the listener's certificate, where an admin has brought one. */
export const installedServerCertificate: Query<undefined, ServerCertificateRow | null> = async (reads) =>
  (await reads.one<ServerCertificateRow>('select * from server_certificates where tenant_id = $1')) ?? null;
