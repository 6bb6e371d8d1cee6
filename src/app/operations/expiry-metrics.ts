import { Gauge } from 'prom-client';
import type { ListenerCertificate } from '../../contexts/certificates/listener-certificate.ts';
import type { SealAlarms } from '../../contexts/audit/seal-alarms.ts';
import type { Database } from '../../platform/database/database.ts';
import { registry } from '../../platform/observability/metrics.ts';
import { version } from '../../platform/version.ts';

const build = new Gauge({
  name: 'castellan_build_info',
  help: 'Always 1; the labels name the version of the service and of Node',
  labelNames: ['version', 'node'] as const,
  registers: [registry],
});
const certificate = new Gauge({
  name: 'castellan_tls_certificate_expiry_timestamp_seconds',
  help: 'When the certificate of the TLS listener expires',
  registers: [registry],
});
const license = new Gauge({
  name: 'castellan_license_expiry_timestamp_seconds',
  help: 'When the first license of a tenant expires that has not expired yet',
  registers: [registry],
});
const expired = new Gauge({
  name: 'castellan_licenses_expired',
  help: 'Tenants whose license has expired',
  registers: [registry],
});
const sealed = new Gauge({
  name: 'castellan_audit_last_seal_timestamp_seconds',
  help: 'When this process last found all audit heads sealed, or sealed them; only in processes that project',
  registers: [registry],
});
const unsealed = new Gauge({
  name: 'castellan_audit_unsealed_chains',
  help: 'Audit chains that are not sealed any more because they do not match the log',
  registers: [registry],
});
const connections = new Gauge({
  name: 'castellan_database_connections',
  help: 'Connections to the database by pool: idle, busy, and requests that wait for one',
  labelNames: ['pool', 'state'] as const,
  registers: [registry],
});

build.labels(version, process.version).set(1);

const LICENSES = `
  select min(ends) filter (where ends > now()) as next, count(*) filter (where ends <= now())::int as expired
    from (select (license->>'expiresAt')::timestamptz as ends from tenants) t`;

export interface ExpirySources {
  readonly database: Database;
  readonly sealAlarms: SealAlarms;
  listenerCertificate(): ListenerCertificate;
}

const seconds = (at: Date | string | number): number => Math.floor(new Date(at).getTime() / 1_000);

/** Updates what ends, what is sealed, and what is in use; called on every scrape. */
export const expiryMetrics =
  ({ database, sealAlarms, listenerCertificate }: ExpirySources) =>
  async (): Promise<void> => {
    for (const [name, pool] of Object.entries(database.pools)) {
      connections.labels(name, 'idle').set(pool.idleCount);
      connections.labels(name, 'busy').set(pool.totalCount - pool.idleCount);
      connections.labels(name, 'waiting').set(pool.waitingCount);
    }
    const { status } = listenerCertificate();
    if (status) certificate.set(seconds(status.expiresAt));
    unsealed.set(sealAlarms.count);
    if (sealAlarms.allSealedAt !== undefined) sealed.set(seconds(sealAlarms.allSealedAt));
    const { rows } = await database.projector.query<{ next: Date | null; expired: number }>(LICENSES);
    // Without a sample nothing is about to expire; a zero would mean 1970.
    if (rows[0]?.next) license.set(seconds(rows[0].next));
    else license.remove();
    expired.set(rows[0]?.expired ?? 0);
  };
