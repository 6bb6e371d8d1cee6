import { join } from 'node:path';
import type pg from 'pg';
import { connectionsOf } from '../database/connections.ts';
import { openDatabase, type Database } from '../database/database.ts';
import { plainPool } from '../database/plain-pool.ts';
import { migrate } from '../database/migrate.ts';
import { families } from '../domain/families.ts';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { EventCodec } from '../eventstore/codec.ts';
import { LogTrust } from '../eventstore/log-trust.ts';
import { openEventStore } from '../eventstore/open.ts';
import type { EventStore } from '../eventstore/port.ts';
import { whileTrusted } from '../eventstore/trusted-store.ts';
import { migrateJobs } from '../jobs/postgres/schema.ts';
import { openKeyrings, type Keyrings } from '../vault/keyrings.ts';
import { PostgresPersonKeys } from '../vault/postgres-person-keys.ts';
import { PostgresVault } from '../vault/postgres-vault.ts';
import { TenantDataKeys } from '../vault/tenant-data-keys.ts';
import type { Site } from './site.ts';

export interface Storage {
  readonly connection: pg.ClientConfig;
  readonly database: Database;
  readonly keyrings: Keyrings;
  readonly dataKeys: TenantDataKeys;
  readonly vault: PostgresVault;
  readonly personKeys: PostgresPersonKeys;
  readonly codec: EventCodec;
  /** Writes only while `trust` holds. */
  readonly store: EventStore;
  readonly trust: LogTrust;
  /** The service on its own embedded database; an operator's command beside it only looks at checkpoints. */
  readonly alone: boolean;
}

/** What lasts: database, keys, event store. Throws `WrongMasterKey` before anything is looked for or sealed with a key that is not ours. */
export async function openStorage(site: Site): Promise<Storage> {
  const { config, options, log, onStop } = site;
  const connection = options.database ?? (await databaseOf(site));
  if (!options.database) {
    await migrate(connection);
    await prepareJobs(connection);
  }
  const database = openDatabase(connection, log, { ...connectionsOf(config.role, { redis: config.redisUrl !== undefined }), patient: options.listen === false });
  onStop(() => database.close());

  const keyrings = await openKeyrings(database.owner, config.masterKey, config.otherMasterKey);
  const dataKeys = new TenantDataKeys(database.service, keyrings);
  const vault = new PostgresVault(database.service, dataKeys);
  const personKeys = new PostgresPersonKeys(database.service, dataKeys);
  const alone = config.databaseUrl === undefined && !options.database;
  const trust = new LogTrust('unchecked');
  const store = whileTrusted(await openEventStore(config, database, log, alone), trust);
  database.onLost(() => trust.suspect('a connection to the database was lost'));
  store.onInterruption(() => trust.suspect('the connection to the event store was lost'));
  onStop(() => store.close());
  return { connection, database, keyrings, dataKeys, vault, personKeys, codec: new EventCodec(families, personKeys), store, trust, alone };
}

async function databaseOf({ config, log, onStop }: Site): Promise<pg.ClientConfig> {
  if (config.databaseUrl) return { connectionString: config.databaseUrl };
  const embedded = await startEmbeddedPostgres({
    dataDir: join(config.dataDir, 'postgres'),
    log: (line) => log.debug({ module: 'postgres' }, line),
    onExit: (reason) => {
      log.fatal({ reason }, 'the embedded database ended');
      process.exitCode = 1;
      process.kill(process.pid, 'SIGTERM');
    },
  });
  onStop(() => embedded.stop());
  return { ...embedded.connection };
}

async function prepareJobs(connection: pg.ClientConfig): Promise<void> {
  const owner = plainPool({ ...connection, max: 1 });
  await migrateJobs(owner).finally(() => owner.end());
}
