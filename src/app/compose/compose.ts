import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { openBackground, type Background } from './background.ts';
import { openReadSide } from './read-side.ts';
import type { ComposeOptions, CompositionContext } from './composition-context.ts';
import { openStorage, type Storage } from './storage.ts';
import { openWriteSide } from './write-side.ts';
import type { Config } from '../config/config.ts';
import { startListeners } from '../http/listeners.ts';
import { buildServer } from '../http/server.ts';
import { tokenKeyGeneration } from '../../contexts/identity/token-key-generation.ts';
import { rejectAfter } from '../../platform/observability/health.ts';
import { newLogger } from '../../platform/observability/logger.ts';
import { LogWatch } from '../../contexts/installation/log-watch.ts';
import type { ServiceContainer } from './service-container.ts';
import { keysOf } from '../../platform/vault/keyrings.ts';
import { assembleServices } from './assemble-services.ts';
import { projects, startWork } from './start-work.ts';

/** A running application. `stop` ends its parts in order. */
export interface Application {
  readonly services: ServiceContainer;
  /** Includes the keys, for operator commands. `services.config` has none. */
  readonly config: Config;
  readonly app: FastifyInstance;
  /** Addresses of the two listeners; empty if there are none. */
  readonly addresses: { readonly http: string; readonly tls: string };
  stop(options?: StopOptions): Promise<void>;
}

export interface StopOptions {
  /**
   * Milliseconds for which the listeners stay open, and refuse. What clients have sent before a stop may not have been read: it
   * would get no response. Default: none.
   */
  readonly refuseMs?: number;
}

/** The composition root: the only place that knows every part. Parts are stopped in reverse order of their start. */
export async function compose(config: Config, options: ComposeOptions = {}): Promise<Application> {
  const log = options.log ?? newLogger(config.logLevel);
  const closers: (() => Promise<unknown> | void)[] = [];
  const stop = () => stopInOrder(closers.splice(0).reverse(), config.drainMs + AFTER_DRAIN_MS, log);
  try {
    const built = await build({ config, options, log, onStop: (close) => void closers.push(close) });
    const stopAfter = async ({ refuseMs = 0 }: StopOptions = {}) => {
      if (refuseMs > 0) {
        built.app.refuseNewRequests();
        await whatHasArrivedIsRead(refuseMs);
      }
      await stop();
    };
    return { ...built, stop: stopAfter };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Of the event loop: in one it accepts connections, and reads from them in the next. */
const ROUNDS = 10;

/** A busy event loop may not have read anything within a time alone. */
async function whatHasArrivedIsRead(withinMs: number): Promise<void> {
  await sleep(withinMs);
  for (let round = 0; round < ROUNDS; round += 1) await immediate();
}

/**
 * Requests may need all of the drain time. What stops after them gets this much more, one part after the other: first, what
 * requests have used up for nothing is given back.
 */
const AFTER_DRAIN_MS = 5_000;
/** Parts that are left then are stopped together, within this time. */
const LAST_MS = 1_000;

/** Stops one part after the other, in bounded time: a frozen database or client cannot keep the process alive. */
async function stopInOrder(closers: (() => Promise<unknown> | void)[], withinMs: number, log: Logger): Promise<void> {
  const ends = performance.now() + withinMs;
  const close = (closer: () => Promise<unknown> | void, milliseconds: number) =>
    rejectAfter(milliseconds, Promise.resolve().then(closer)).catch((error: unknown) =>
      log.warn({ reason: (error as Error).message }, 'a part did not stop cleanly'),
    );
  while (closers.length > 0 && performance.now() < ends) await close(closers.shift()!, ends - performance.now());
  await Promise.all(closers.map((closer) => close(closer, LAST_MS)));
}

async function build(composition: CompositionContext): Promise<Omit<Application, 'stop'>> {
  const { options, onStop } = composition;
  const storage = await openStorage(composition);
  const readSide = await openReadSide(composition, storage);
  const writeSide = openWriteSide(composition, storage, readSide, {
    jobs: () => background.jobs,
    outbox: () => background.deliverySender,
  });
  const background: Background = openBackground(composition, storage, writeSide, readSide);
  const tokenKey = await tokenKeyGeneration(storage.database.owner, composition.config.tokenKeyGeneration, options);
  const services = assembleServices(composition, storage, writeSide, readSide, background, tokenKey);
  const watch = await watchLog(composition, services);

  await services.projector.prepare();
  // After the tables are prepared: with an empty log, read models need no replay.
  if (!options.onlyLooks) await watch.adopt();
  services.cache.start();
  onStop(() => services.cache.stop());
  await startWork(composition, services, storage.alone);
  const app = await buildServer(services, {
    ...(background.redis ? { redis: background.redis } : {}),
    idempotencyKeys: idempotencyKeysOf(storage),
  });
  onStop(() => settleWhatIsOwed(app, services));
  onStop(() => app.close());
  const addresses = options.listen === false ? { http: '', tls: '' } : await startListeners(app, services, onStop);
  return { services, config: composition.config, app, addresses };
}

/** Less than what stops after requests has: the rest of it needs time, too. */
const SETTLED_MS = 3_000;

/** After the last request, and while everything still works. */
async function settleWhatIsOwed(
  app: Pick<FastifyInstance, 'givenUp'>,
  { database, returnedTokens }: ServiceContainer,
): Promise<void> {
  await app.givenUp();
  const each = [database.service.restitution, returnedTokens];
  await Promise.all(each.map((owed) => owed.settled(SETTLED_MS)));
}

/** Checks the event log against this installation's records before anything is appended or projected. */
async function watchLog(site: CompositionContext, services: ServiceContainer): Promise<LogWatch> {
  const { store, database, trust, installation, executor, subscription, log, streamRetention } = services;
  trust.onDoubt(() => streamRetention.forget());
  const watch = new LogWatch({
    store,
    doubts: services.logDoubts,
    unfinishedRestore: services.unfinishedRestore,
    pool: database.projector,
    service: database.service,
    identity: installation,
    executor,
    subscription,
    trust,
    log,
    projects: projects(site),
    onlyLooks: site.options.onlyLooks ?? false,
  });
  await watch.check();
  watch.start();
  site.onStop(() => watch.stop());
  return watch;
}

const idempotencyKeysOf = ({ keyrings }: Storage) => ({
  sealing: keysOf(keyrings, 'idempotent-answers'),
  digesting: keyrings.current.key('idempotency'),
});
