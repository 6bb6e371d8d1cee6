import { join } from 'node:path';
import { connectionsOf } from '../../platform/database/connections.ts';
import { openDatabase, type Database } from '../../platform/database/database.ts';
import { openPools } from '../../platform/database/access.ts';
import { connectionOf, type DatabaseConfig } from '../../platform/database/logins.ts';
import { families } from '../../contexts/families.ts';
import { startEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { EventCodec } from '../../platform/eventstore/codec.ts';
import { LogTrust } from '../../platform/eventstore/log-trust.ts';
import { openEventStore } from '../../platform/eventstore/open.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import { countAppends } from '../../platform/eventstore/counted-appends.ts';
import { whileTrusted } from '../../platform/eventstore/trusted-store.ts';
import type { Keyrings } from '../../platform/vault/keyrings.ts';
import { PostgresPersonKeys } from '../../platform/vault/postgres-person-keys.ts';
import { PostgresVault } from '../../platform/vault/postgres-vault.ts';
import { TenantDataKeys } from '../../platform/vault/tenant-data-keys.ts';
import { countAppend } from '../operations/append-metrics.ts';
import { requireNoLostCluster } from '../operations/lost-database.ts';
import { openKeys, prepareDatabase } from './prepare-database.ts';
import type { CompositionContext } from './composition-context.ts';

export interface Storage {
  readonly connection: DatabaseConfig;
  readonly database: Database;
  readonly keyrings: Keyrings;
  readonly dataKeys: TenantDataKeys;
  readonly vault: PostgresVault;
  readonly personKeys: PostgresPersonKeys;
  readonly codec: EventCodec;
  /** Refuses to write while `trust` does not hold. */
  readonly store: EventStore;
  readonly trust: LogTrust;
  /** True for the service on its embedded database: no other process moves checkpoints. */
  readonly alone: boolean;
}

/** Opens database, keys and event store. Throws `WrongMasterKey` before it reads or seals anything with a wrong key. */
export async function openStorage(composition: CompositionContext): Promise<Storage> {
  const { config, options, log, onStop } = composition;
  const prepared = options.database ? undefined : await prepareDatabase(await databaseOf(composition), config);
  const connection = prepared?.config ?? options.database!;
  const database = openDatabase(connection, log, {
    ...connectionsOf(config.role, { redis: config.redisUrl !== undefined }),
    patient: options.listen === false,
  });
  onStop(() => database.close());
  if (prepared) await openPools(database, prepared.wanted);

  const keyrings = prepared?.keyrings ?? (await openKeys(database.owner, config));
  const dataKeys = new TenantDataKeys(database.service, keyrings);
  const vault = new PostgresVault(database.service, dataKeys);
  const personKeys = new PostgresPersonKeys(database.service, dataKeys);
  const alone = config.databaseUrl === undefined && !options.database;
  const trust = new LogTrust('unchecked');
  const store = countAppends(whileTrusted(await openEventStore(config, database, log, alone), trust), countAppend);
  database.onLost(() => trust.suspect('a connection to the database was lost'));
  store.onInterruption(() => trust.suspect('the connection to the event store was lost'));
  onStop(() => store.close());
  return {
    connection,
    database,
    keyrings,
    dataKeys,
    vault,
    personKeys,
    codec: new EventCodec(families, personKeys),
    store,
    trust,
    alone,
  };
}

async function databaseOf({ config, log, onStop }: CompositionContext): Promise<DatabaseConfig> {
  if (config.databaseUrl) return connectionOf(config.databaseUrl);
  requireNoLostCluster(config);
  const embedded = await startEmbeddedPostgres({
    dataDir: join(config.dataDir, 'postgres'),
    log: (line) => log.debug({ module: 'postgres' }, line),
    onExit: (reason) => {
      log.fatal({ reason }, 'the embedded database stopped unexpectedly');
      process.exitCode = 1;
      process.kill(process.pid, 'SIGTERM');
    },
  });
  onStop(() => embedded.stop());
  return { ...embedded.connection };
}
