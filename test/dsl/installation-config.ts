import { randomBytes } from 'node:crypto';
import { readConfig, type Config } from '../../src/app/config/config.ts';
import { licensePublicKeyPem } from './licenses.ts';
import type { SystemPostgres } from './system-postgres.ts';

/** The configuration of an installation on each database of a cluster, all with the same new keys. */
export function configsOn(cluster: SystemPostgres, owner: string, dataDir: string): (database: string) => Config {
  const keys = { MASTER_KEY: randomBytes(32).toString('hex'), AUDIT_HMAC_KEY: randomBytes(32).toString('hex') };
  return (database) =>
    readConfig({
      ...keys,
      LICENSE_PUBLIC_KEY: licensePublicKeyPem,
      DATABASE_URL: cluster.url(owner, database),
      DATA_DIR: dataDir,
      NODE_ENV: 'production',
    });
}
