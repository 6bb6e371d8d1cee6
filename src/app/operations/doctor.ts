import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import type { Config } from '../config/config.ts';
import { rejectAfter } from '../../platform/observability/health.ts';
import { ObjectStoreUnavailable } from '../../platform/objects/object-store.ts';
import { UnusableCluster } from '../../platform/embedded/failed.ts';
import { findEmbeddedPostgres, requireStartable } from '../../platform/embedded/postgres.ts';
import { objectsIn, openObjects } from '../../platform/objects/open-objects.ts';
import { ConfigError } from '../../platform/config-error.ts';
import { inUrl } from '../http/refused-listening.ts';
import { requireHost, tryToListen } from '../http/trial-listening.ts';
import { EMBEDDED_DATABASE } from '../config/key-files.ts';
import { requireWritable } from '../config/data-directory.ts';
import { completeness, databaseServer, examineDatabase, keys, licenses, type GivenKeys } from './examined-database.ts';
import { examineCertificate } from './examined-certificate.ts';
import { examineHeads, examineLog } from './examined-log.ts';
import { diskSpaceOf } from './disk-space.ts';
import { advice, fine, finding, unknown, type Examined } from './examined.ts';
import { describeStartError } from './start-error.ts';
import { NotAFile } from '../../platform/file-content.ts';
import { isFound } from '../../platform/is-found.ts';
import { requireUsableFolder } from '../../platform/usable-folder.ts';
import { mayWriteIn } from '../../platform/may-write.ts';

export interface Diagnosis extends Examined {
  readonly check: string;
}

type Check = () => readonly Examined[] | Promise<readonly Examined[]>;

const CALL_TIMEOUT_MS = 10_000;
/** Another program at the port may accept the connection and stay silent. */
const LIVE_MS = 2_000;
const FREE_BYTES = 1024 ** 3;
/** Node 20 has had no security updates since 2026-04-30. */
const SUPPORTED_NODE = 22;

/** Looks at everything that the settings name. Changes nothing, and starts no database. */
export async function examine(config: Config, given: GivenKeys): Promise<readonly Diagnosis[]> {
  const checks: readonly (readonly [string, Check])[] = [
    ['node', () => [node()]],
    ['data directory', () => dataDirectory(config.dataDir)],
    ['ports', () => ports(config)],
    ['postgresql', () => postgresql(config)],
    ['tables', () => examineDatabase(config, completeness(config))],
    ['keys', () => examineDatabase(config, keys(config, given))],
    ['licenses', () => examineDatabase(config, licenses)],
    ['event log', () => examineDatabase(config, examineLog(config))],
    ['sealed heads', () => [examineHeads(config)]],
    ['event store', () => eventStore(config)],
    ['redis', () => redis(config)],
    ['object storage', () => objects(config)],
    ['tls certificate', () => [examineCertificate(config.dataDir)]],
  ];
  const results = await Promise.all(
    checks.map(async ([check, look]) => {
      const outcomes = await rejectAfter(CALL_TIMEOUT_MS, Promise.resolve().then(look)).catch((error: unknown) => [
        examinedError(error),
      ]);
      return outcomes.map((outcome): Diagnosis => ({ check, ...outcome }));
    }),
  );
  return results.flat();
}

/** An error as what one look has shown. */
export const examinedError = (error: unknown): Examined =>
  [ConfigError, NotAFile, UnusableCluster].some((kind) => error instanceof kind)
    ? finding((error as Error).message)
    : unknown(describeStartError(error).split('\n')[0]!);

function node(): Examined {
  const major = Number(process.versions.node.split('.')[0]);
  const text = `Node ${process.versions.node}`;
  return major < SUPPORTED_NODE
    ? advice(`${text} gets no security updates any more: use ${SUPPORTED_NODE} or 24`)
    : fine(text);
}

/** An embedded one that does not run is looked at in its folder. */
function postgresql(config: Config): Promise<readonly Examined[]> {
  if (config.databaseUrl === undefined) requireStartable(join(config.dataDir, EMBEDDED_DATABASE));
  return examineDatabase(config, databaseServer);
}

async function dataDirectory(dataDir: string): Promise<readonly Examined[]> {
  if (!isFound(dataDir)) {
    const parent = nearestFolder(dataDir);
    return mayWriteIn(parent)
      ? [fine(`${dataDir} does not exist yet: the first start creates it`)]
      : [finding(`${dataDir} does not exist, and this user cannot create it in ${parent}`)];
  }
  requireWritable(dataDir);
  const { freeBytes } = await diskSpaceOf(dataDir);
  const text = `${dataDir} has ${(freeBytes / 1024 ** 3).toFixed(1)} GiB left`;
  return [freeBytes < FREE_BYTES ? finding(`${text}: less than 1 GiB`) : fine(text)];
}

const nearestFolder = (folder: string): string => (isFound(folder) ? folder : nearestFolder(dirname(folder)));

/**
 * Tries to listen, as only that shows a port that needs a right, or an address of another machine. A port that something
 * listens on is fine if that is this service. A service beside an embedded database that does not run is another one.
 */
async function ports({ host, port, tlsPort, ...config }: Config): Promise<readonly Examined[]> {
  await requireHost(host);
  if (port !== 0 && mayRun(config) && (await isThisService(host, port)))
    return [fine(`the service runs at ${inUrl(reachable(host))}:${port}`)];
  const settings: readonly (readonly [string, number])[] = [
    ['PORT', port],
    ['TLS_PORT', tlsPort],
  ];
  const looks = settings.map(([setting, each]) =>
    tryToListen(setting, host, each).then(
      () =>
        fine(each === 0 ? `${setting}: any free port` : `${setting}: this user may listen at ${inUrl(host)}:${each}`),
      examinedError,
    ),
  );
  return Promise.all(looks);
}

const mayRun = ({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): boolean =>
  databaseUrl !== undefined || findEmbeddedPostgres(join(dataDir, 'postgres')) !== undefined;

/** An address at which this machine reaches what listens at all of its addresses. */
const reachable = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host);

const isThisService = (host: string, port: number): Promise<boolean> =>
  fetch(`http://${inUrl(reachable(host))}:${port}/live`, { signal: AbortSignal.timeout(LIVE_MS) }).then(
    ({ ok }) => ok,
    () => false,
  );

async function eventStore({ eventStoreUrl }: Config): Promise<readonly Examined[]> {
  if (eventStoreUrl === undefined) return [fine('the events are in PostgreSQL')];
  // Loaded only here: its client takes longer to load than most commands run.
  const { openAdministration } = await import('../../platform/eventstore/eventstoredb/administration.ts');
  const { lines, isSufficient } = await openAdministration(eventStoreUrl, undefined, (server) =>
    server.rights({ grant: false, exclusive: false }),
  );
  return lines.map(isSufficient ? fine : finding);
}

async function redis({ redisUrl }: Config): Promise<readonly Examined[]> {
  if (redisUrl === undefined) return [fine('not configured: jobs and limits are in PostgreSQL')];
  const client = new Redis(redisUrl, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  let reason = '';
  client.on('error', (error: Error) => (reason ||= error.message));
  try {
    await client.connect();
    const policy = /maxmemory_policy:(\S+)/.exec(await client.info('memory'))?.[1];
    return [
      policy === undefined || policy === 'noeviction'
        ? fine('responds')
        : finding(`maxmemory-policy is ${policy}: set noeviction, or jobs are lost when memory is short`),
    ];
  } catch (error) {
    const why = reason || (error as Error).message;
    const remedy = why.startsWith('WRONGPASS') || why.startsWith('NOAUTH') ? ': check REDIS_PASSWORD' : '';
    return [finding(`REDIS_URL: ${why}${remedy}; the service starts without Redis, and jobs wait`)];
  } finally {
    client.disconnect();
  }
}

async function objects(config: Config): Promise<readonly Examined[]> {
  if (!config.s3) {
    requireUsableFolder(objectsIn(config.dataDir));
    return [fine('files in DATA_DIR/objects')];
  }
  try {
    await openObjects(config).look();
    return [fine('the bucket responds')];
  } catch (error) {
    if (!(error instanceof ObjectStoreUnavailable)) throw error;
    const { endpoint, isTrusted } = config.s3;
    const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
    const remedy = isTrusted ? '' : '; plain HTTP and private addresses need S3_TRUSTED=true';
    return [finding(`S3_ENDPOINT ${endpoint}: ${error.message}${cause}${remedy}`)];
  }
}
