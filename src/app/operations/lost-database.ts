import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { EMBEDDED_DATABASE } from '../config/key-files.ts';
import { SealFile } from '../../contexts/audit/seal-file.ts';
import { ConfigError } from '../../platform/config-error.ts';
import { hasCluster } from '../../platform/embedded/postgres.ts';

/** The heads in `DATA_DIR` are of a database that is not there: of a part of a backup, or beside a mount that is missing. */
export class LostDatabase extends ConfigError {
  constructor(message: string) {
    super(message);
    this.name = 'LostDatabase';
  }
}

/** What was sealed was in a database, and is not in one of which this is said. Undefined if nothing was sealed. */
export function lossOf(absence: string, dataDir: string): string | undefined {
  const chains = new SealFile(dataDir).owners().length;
  if (chains === 0) return undefined;
  return `${absence}, and audit-heads.jsonl knows sealed heads of ${chains} chains: restore the database, or use the one that belongs to DATA_DIR; to begin anew, put audit-heads.jsonl elsewhere`;
}

/** The embedded database is absent although something in it was sealed. */
export const lostCluster = (dataDir: string): string | undefined =>
  hasCluster(join(dataDir, EMBEDDED_DATABASE)) ? undefined : lossOf('there is no database in DATA_DIR', dataDir);

/**
 * Throws `LostDatabase`: a start would make an empty database, and whoever comes first could set the installation up. With an event
 * log elsewhere, the log is what is compared.
 */
export function requireNoLostCluster({ databaseUrl, eventStoreUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || eventStoreUrl !== undefined) return;
  const loss = lostCluster(dataDir);
  if (loss !== undefined) throw new LostDatabase(loss);
}
