import type { FastifyInstance } from 'fastify';
import { HeadSealer } from './audit/head-sealer.ts';
import { openBackground, type Background } from './compose/background.ts';
import { openReadSide, type ReadSide } from './compose/read-side.ts';
import type { ComposeOptions, Site } from './compose/site.ts';
import { openStorage, type Storage } from './compose/storage.ts';
import { openWriteSide, type WriteSide } from './compose/write-side.ts';
import type { Config } from './config.ts';
import { families } from './domain/families.ts';
import { BundleSigner } from './extension/bundle-signer.ts';
import { openDoors } from './http/doors.ts';
import { buildServer } from './http/server.ts';
import { trustedProxies } from './http/trusted-proxies.ts';
import { AccessTokens } from './identity/access-tokens.ts';
import { KnownBrowsers } from './identity/known-browsers.ts';
import { liveLookups } from './identity/lookups.ts';
import { OneTimeTokens } from './identity/one-time-tokens.ts';
import { RefreshTokens } from './identity/refresh-tokens.ts';
import { tokenKeyGeneration, type TokenKeyGeneration } from './identity/token-key-generation.ts';
import type { AnyCommand } from './kernel/command.ts';
import { newLogger } from './logger.ts';
import { maintenanceSchedules } from './maintenance/jobs.ts';
import { txtRecords } from './outbound/txt-records.ts';
import { ReactionRunner, type Effects } from './projector/reaction-runner.ts';
import { reactions } from './reactions/index.ts';
import { SignedAddresses } from './screenshots/signed-addresses.ts';
import { serviceMetrics } from './service-metrics.ts';
import { serviceProbes } from './service-probes.ts';
import type { Services } from './services.ts';
import { ListenerCertificate } from './tls/listener-certificate.ts';
import { keysOf } from './vault/keyrings.ts';

/** A house that stands: its services, and the way to take it down in order. */
export interface House {
  readonly services: Services;
  readonly app: FastifyInstance;
  /** Where the two doors listen, once they do. */
  readonly addresses: { readonly http: string; readonly tls: string };
  stop(): Promise<void>;
}

/** The composition root: the only place that knows every part (`compose/` has the parts). What was started is stopped in reverse order. */
export async function compose(config: Config, options: ComposeOptions = {}): Promise<House> {
  const log = options.log ?? newLogger(config.logLevel);
  const closers: (() => Promise<unknown> | void)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) {
      await Promise.resolve(close()).catch((error: unknown) => log.warn({ reason: (error as Error).message }, 'a part did not stop cleanly'));
    }
  };
  try {
    return { ...(await build({ config, options, log, onStop: (close) => void closers.push(close) })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build(site: Site): Promise<Omit<House, 'stop'>> {
  const { options, onStop } = site;
  const storage = await openStorage(site);
  const writeSide = openWriteSide(site, storage);
  const readSide = await openReadSide(site, storage);
  const background = openBackground(site, storage, writeSide, readSide);
  const tokenKey = await tokenKeyGeneration(storage.database.owner, site.config.tokenKeyGeneration);
  const services = assemble(site, storage, writeSide, readSide, background, tokenKey);

  await services.projector.prepare();
  services.live.start();
  onStop(() => services.live.stop());
  await startWork(site, services, storage.alone);
  const app = await buildServer(services, { ...(background.redis ? { redis: background.redis } : {}), idempotencyKeys: keysOf(storage.keyrings, 'idempotent-answers') });
  onStop(() => app.close());
  const addresses = options.listen === false ? { http: '', tls: '' } : await openDoors(app, services, onStop);
  return { services, app, addresses };
}

function assemble({ config, log }: Site, storage: Storage, writeSide: WriteSide, readSide: ReadSide, background: Background, tokenKey: TokenKeyGeneration): Services {
  const { keyrings, dataKeys, database, store, codec, vault, personKeys } = storage;
  const { objects, ...commands } = writeSide;
  const { redis, ...later } = background;
  const { projector, live } = readSide;
  const services: Services = {
    config,
    log,
    families,
    database,
    store,
    codec,
    vault,
    personKeys,
    ...commands,
    ...readSide,
    ...later,
    screenshotAddresses: new SignedAddresses(keyrings.current.key('screenshot-addresses')),
    bundleSigner: new BundleSigner(keyrings),
    listenerCertificate: () => listenerCertificate,
    accessTokens: new AccessTokens(keyrings, tokenKey),
    refreshTokens: new RefreshTokens(database.service, keyrings.current.key('refresh-successors')),
    knownBrowsers: new KnownBrowsers(keysOf(keyrings, 'known-browsers')),
    oneTimeTokens: new OneTimeTokens(database.service),
    lookups: liveLookups(live, commands.loader),
    domainChallenge: keyrings.current.digester('domain-challenges'),
    txtRecords: txtRecords(config.dnsServers),
    head: () => store.head(),
    trustsProxy: trustedProxies(config.trustedProxies),
    probes: serviceProbes({ dataKeys, store, database, projector, jobs: later.jobs, redis, objects, fingerprint: keyrings.current.fingerprint }),
    laggingModels: () => projector.lagging(),
    measure: serviceMetrics(store, projector, later.jobs),
  };
  const listenerCertificate = new ListenerCertificate(services);
  return services;
}

/** What this process does besides answering, by its role. */
async function startWork(site: Site, services: Services, alone: boolean): Promise<void> {
  const { config, options, onStop } = site;
  const { projector, jobs } = services;
  const projects = options.project ?? (config.role === 'all' || config.role === 'projector');
  if (projects) {
    await projector.start();
    onStop(() => projector.stop());
    await startReactions(site, services, alone);
    const sealer = new HeadSealer(services);
    sealer.start();
    onStop(() => sealer.stop());
  }
  if (projects || config.role === 'worker') {
    await jobs.start();
    for (const [key, schedule] of Object.entries(maintenanceSchedules)) await jobs.schedule(key, schedule);
  }
}

async function startReactions({ log, onStop }: Site, { database, projector, tail, executor, jobs }: Services, alone: boolean): Promise<void> {
  const effects: Effects = {
    execute: (command: AnyCommand, input, issuer) => executor.execute(command, input, issuer),
    enqueueWithin: (client, job, data, jobOptions) => jobs.enqueueWithin(client, job, data, jobOptions),
  };
  for (const reaction of reactions) {
    const runner = new ReactionRunner(reaction, { pool: database.projector, cursors: projector.cursors, tail, effects, log, alone });
    await runner.prepare();
    runner.start();
    onStop(() => runner.stop());
  }
}
