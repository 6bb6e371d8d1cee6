import { mkdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { isFound } from '../is-found.ts';
import { chooseOsAccount } from './os-account.ts';
import { installedVersion, locateBinaries } from './binaries.ts';
import { ensureCluster } from './cluster.ts';
import { takeOwnership } from './ownership.ts';
import { announcesReady, clearLeftover, clearSocket, livingPostmaster } from './postmaster.ts';
import { findAccountAccess } from './account-access.ts';
import { startServer } from './server.ts';
import { serverArguments } from './settings.ts';
import { clusterIn, requireUsableCluster } from './usable-cluster.ts';
import { knownSocketDirectory, SOCKET_PORT, socketDirectory } from './socket-directory.ts';

export interface EmbeddedConnection {
  /** The folder of the unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

export interface EmbeddedPostgres {
  readonly connection: EmbeddedConnection;
  readonly pid: number;
  /** Disconnects all clients, writes a checkpoint and ends. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** The folder for the cluster, the socket and the lock; created if missing. */
  readonly dataDir: string;
  /** Receives the server's own log, line by line; never the text or values of a statement. */
  readonly log?: (line: string) => void;
  /** Called when the server ends without `stop`. */
  readonly onExit?: (reason: string) => void;
  /** `false` trades durability for speed: for temporary clusters of tests. */
  readonly durable?: boolean;
}

const DATABASE = 'castellan';
const connectionAt = (host: string): EmbeddedConnection => ({
  host,
  port: SOCKET_PORT,
  user: 'postgres',
  database: DATABASE,
});

/** Whether there is something in the place of a cluster: lock and socket beside it may be left of one that is gone. */
export const hasCluster = (dataDir: string): boolean => isFound(clusterIn(dataDir));

/** Starts the cluster in `dataDir`, creates it if necessary, and owns it until `stop`. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = path.resolve(options.dataDir);
  const cluster = clusterIn(dataDir);
  const log = options.log ?? (() => undefined);
  const binaries = locateBinaries();
  requireUsableCluster(dataDir, binaries.version);
  mkdirSync(dataDir, { recursive: true });
  const ownership = takeOwnership(dataDir);
  try {
    const account = chooseOsAccount(cluster);
    const reach = findAccountAccess(account, binaries, dataDir);
    ensureCluster(cluster, account, reach);
    await clearLeftover(cluster, log);
    const connection = connectionAt(socketDirectory(dataDir, account));
    clearSocket(connection.host);
    const server = await startServer({
      program: reach.binaries.postgres,
      args: serverArguments(cluster, connection.host, options.durable ?? true),
      context: { account, passage: reach.passage, bound: true },
      isReady: (pid) => announcesReady(cluster, pid),
      log,
      onExit: (reason) => {
        ownership.release();
        options.onExit?.(reason);
      },
    });
    await ensureDatabase(connection).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return {
      connection,
      pid: server.pid,
      stop: async () => {
        await server.stop();
        ownership.release();
      },
    };
  } catch (error) {
    ownership.release();
    throw error;
  }
}

/** Throws `UnusableCluster` for a folder that a start would refuse. Changes nothing. */
export function requireStartable(dataDir: string): void {
  const version = installedVersion();
  if (version !== undefined) requireUsableCluster(path.resolve(dataDir), version);
}

/** The connection to a cluster that another process runs in `dataDir`, if any: for commands beside the service. */
export function findEmbeddedPostgres(dataDir: string): EmbeddedConnection | undefined {
  const folder = path.resolve(dataDir);
  const host = knownSocketDirectory(folder);
  return host && livingPostmaster(clusterIn(folder)) !== undefined ? connectionAt(host) : undefined;
}

async function ensureDatabase(connection: EmbeddedConnection): Promise<void> {
  const client = new pg.Client({ ...connection, database: 'postgres' });
  client.on('error', () => undefined); // an outage shows in the query
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}
