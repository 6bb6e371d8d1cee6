import type { ServerCertificateRow } from '../../projections/certificates/server-certificates.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Runs in the installation's scope: the listener's certificate, if an admin installed one. */
export const installedServerCertificate: Query<undefined, ServerCertificateRow | null> = async (reads) =>
  (await reads.one<ServerCertificateRow>('select * from server_certificates where tenant_id = $1')) ?? null;
