import { statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import type { Config } from '../config/config.ts';
import { rejectAfter } from '../../platform/observability/health.ts';
import { identifyOwner, markedOwner } from '../../platform/database/access.ts';
import { connectionOf } from '../../platform/database/logins.ts';
import { plainPool } from '../../platform/database/plain-pool.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { openAdministration } from '../../platform/eventstore/eventstoredb/administration.ts';
import { objectKey } from '../../platform/objects/object-store.ts';
import { openObjects } from '../../platform/objects/open-objects.ts';
import { ConfigError } from '../../platform/config-error.ts';
import { requireWritable } from './data-directory.ts';
import { describeStartError } from './start-error.ts';

/** `finding`: the service would not start or not work well. `unknown`: it could not be looked at. */
export type Verdict = 'fine' | 'finding' | 'unknown';

export interface Diagnosis {
  readonly check: string;
  readonly verdict: Verdict;
  readonly message: string;
}

type Outcome = Omit<Diagnosis, 'check'>;
type Check = () => Promise<readonly Outcome[]>;

const fine = (message: string): Outcome => ({ verdict: 'fine', message });
const finding = (message: string): Outcome => ({ verdict: 'finding', message });
const unknown = (message: string): Outcome => ({ verdict: 'unknown', message });

const PATIENCE_MS = 10_000;
/** Another program at the port may accept the connection and stay silent. */
const LIVE_MS = 2_000;
const FREE_BYTES = 1024 ** 3;
const CLOCK_MS = 5_000;
const EXPIRY_DAYS = 30;
const DAY_MS = 86_400_000;
/** Node 20 has had no security updates since 2026-04-30. */
const SUPPORTED_NODE = 22;

/** Looks at everything that the settings name. Changes nothing, and starts no database. */
export async function examine(config: Config): Promise<readonly Diagnosis[]> {
  const checks: readonly (readonly [string, Check])[] = [
    ['node', () => Promise.resolve([node()])],
    ['data directory', () => dataDirectory(config.dataDir)],
    ['ports', () => ports(config)],
    ['postgresql', () => postgres(config)],
    ['event store', () => eventStore(config)],
    ['redis', () => redis(config)],
    ['object storage', () => objects(config)],
    ['tls certificate', () => Promise.resolve([certificate(config.dataDir)])],
  ];
  const results = await Promise.all(
    checks.map(async ([check, look]) => {
      const outcomes = await rejectAfter(PATIENCE_MS, look()).catch((error: unknown) => [failed(error)]);
      return outcomes.map((outcome): Diagnosis => ({ check, ...outcome }));
    }),
  );
  return results.flat();
}

const failed = (error: unknown): Outcome =>
  error instanceof ConfigError ? finding(error.message) : unknown(describeStartError(error).split('\n')[0]!);

function node(): Outcome {
  const major = Number(process.versions.node.split('.')[0]);
  const text = `Node ${process.versions.node}`;
  return major < SUPPORTED_NODE
    ? finding(`${text} gets no security updates any more: use ${SUPPORTED_NODE} or 24`)
    : fine(text);
}

async function dataDirectory(dataDir: string): Promise<readonly Outcome[]> {
  if (!existsSync(dataDir)) return [fine(`${dataDir} does not exist yet: the first start creates it`)];
  requireWritable(dataDir);
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  const text = `${dataDir} has ${(free / 1024 ** 3).toFixed(1)} GiB left`;
  return [free < FREE_BYTES ? finding(`${text}: less than 1 GiB`) : fine(text)];
}

/** A port that something listens on is fine if that is this service. */
async function ports({ host, port, tlsPort }: Config): Promise<readonly Outcome[]> {
  if (port === 0) return [fine('any free port')];
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const isOurs = await fetch(`http://${address.includes(':') ? `[${address}]` : address}:${port}/live`, {
    signal: AbortSignal.timeout(LIVE_MS),
  }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isOurs) return [fine(`the service runs at ${address}:${port}`)];
  const taken = await Promise.all([port, tlsPort].map(async (each) => ((await isTaken(address, each)) ? [each] : [])));
  return taken.flat().length === 0
    ? [fine(`${port} and ${tlsPort} are free`)]
    : taken.flat().map((each) => finding(`another process listens at ${address}:${each}`));
}

const isTaken = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 });
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });

interface ServerState {
  readonly version: string;
  readonly skew: number;
  readonly creates: boolean;
  readonly connections: number;
  readonly missing: readonly string[];
}

const SERVER_STATE = `
  select current_setting('server_version') as version,
         (extract(epoch from clock_timestamp()) * 1000 - $1::float8)::float8 as skew,
         (select rolcreaterole or rolsuper from pg_roles where rolname = current_user) as creates,
         current_setting('max_connections')::int as connections,
         (select coalesce(array_agg(name), '{}') from unnest(array['pg_trgm', 'btree_gin']) as wanted(name)
           where not exists (select from pg_available_extensions a where a.name = wanted.name)) as missing`;

async function postgres(config: Config): Promise<readonly Outcome[]> {
  const running = config.databaseUrl === undefined ? findEmbeddedPostgres(join(config.dataDir, 'postgres')) : undefined;
  if (config.databaseUrl === undefined && !running) return [fine('embedded, not running: the service starts it')];
  const connection = config.databaseUrl === undefined ? { ...running! } : connectionOf(config.databaseUrl);
  const pool = plainPool({ ...markedOwner(connection), max: 1, connectionTimeoutMillis: PATIENCE_MS / 2 });
  try {
    const owner = await identifyOwner(pool);
    const { rows } = await pool.query<ServerState>(SERVER_STATE, [Date.now()]);
    const state = rows[0]!;
    return [
      fine(`PostgreSQL ${state.version}, connected directly, as ${owner.owner} of ${owner.database}`),
      ...serverFindings(state, owner.hasGroups),
    ];
  } finally {
    await pool.end();
  }
}

function serverFindings({ skew, creates, connections, missing }: ServerState, hasGroups: boolean): Outcome[] {
  return [
    ...(Math.abs(skew) > CLOCK_MS
      ? [finding(`the clocks of database and this machine differ by ${Math.round(Math.abs(skew) / 1_000)} s`)]
      : []),
    ...(creates || hasGroups
      ? []
      : [
          finding(
            'the user may not create roles, and they are missing: have an administrator run `castellan database roles`',
          ),
        ]),
    ...missing.map((name) =>
      finding(`the extension ${name} is not installed on the server (package postgresql-contrib)`),
    ),
    ...(connections < 50 ? [finding(`max_connections is ${connections}: one process opens up to 42`)] : []),
  ];
}

async function eventStore({ eventStoreUrl }: Config): Promise<readonly Outcome[]> {
  if (eventStoreUrl === undefined) return [fine('the events are in PostgreSQL')];
  const { lines, isSufficient } = await openAdministration(eventStoreUrl, undefined, (server) =>
    server.rights({ grant: false, exclusive: false }),
  );
  return lines.map(isSufficient ? fine : finding);
}

async function redis({ redisUrl }: Config): Promise<readonly Outcome[]> {
  if (redisUrl === undefined) return [fine('not configured: jobs and limits are in PostgreSQL')];
  const client = new Redis(redisUrl, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const policy = /maxmemory_policy:(\S+)/.exec(await client.info('memory'))?.[1];
    return [
      policy === undefined || policy === 'noeviction'
        ? fine('responds')
        : finding(`maxmemory-policy is ${policy}: set noeviction, or jobs are lost when memory is short`),
    ];
  } catch (error) {
    return [finding(`REDIS_URL: ${(error as Error).message}. The service starts without it, and jobs wait`)];
  } finally {
    client.disconnect();
  }
}

async function objects(config: Config): Promise<readonly Outcome[]> {
  if (!config.s3) return [fine('files in DATA_DIR/objects')];
  await openObjects(config).get(objectKey('health', 'nothing'));
  return [fine('the bucket responds')];
}

function certificate(dataDir: string): Outcome {
  const file = join(dataDir, 'tls', 'server.crt');
  if (!existsSync(file)) return fine('none in DATA_DIR/tls: a self-signed one is created');
  const { subject, validTo } = new X509Certificate(readFileSync(file));
  const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS);
  const text = `${subject.replaceAll('\n', ', ')}, valid for ${days} days`;
  return days < EXPIRY_DAYS ? finding(`${text}: renew it`) : fine(text);
}
