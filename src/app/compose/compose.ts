import type { FastifyInstance } from 'fastify';
import { ObservationAllowance } from '../../contexts/telemetry/observation-allowance.ts';
import { TechnologyAllowance } from '../../contexts/discovery/technology-allowance.ts';
import type { Logger } from 'pino';
import { ChainKey } from '../../contexts/audit/domain/chain-key.ts';
import { auditVocabulary } from '../../contexts/audit/domain/vocabulary.ts';
import { SharedRuns } from '../../contexts/audit/shared-runs.ts';
import { walkInThreads } from '../../contexts/audit/walking-threads.ts';
import { ExtensionAnswers } from '../../contexts/policies/extension-answers.ts';
import { PendingRequests } from '../../contexts/sso/saml/pending-requests.ts';
import { HeadSealer } from '../../contexts/audit/head-sealer.ts';
import { SealAlarms } from '../../contexts/audit/seal-alarms.ts';
import { openBackground, type Background } from './background.ts';
import { openReadSide, type ReadSide } from './read-side.ts';
import type { ComposeOptions, Site } from './site.ts';
import { openStorage, type Storage } from './storage.ts';
import { openWriteSide, type WriteSide } from './write-side.ts';
import { settingsOf, type Config } from '../config/config.ts';
import { families } from '../../contexts/families.ts';
import { BundleSigner } from '../../contexts/policies/bundle-signer.ts';
import { openDoors } from '../http/doors.ts';
import { buildServer } from '../http/server.ts';
import { StreamRetention } from '../../contexts/telemetry/telemetry-retention.ts';
import { trustedProxies } from '../http/trusted-proxies.ts';
import { AccessTokens } from '../../contexts/identity/access-tokens.ts';
import { KnownBrowsers } from '../../contexts/identity/known-browsers.ts';
import { liveLookups } from '../../contexts/identity/lookups.ts';
import { OneTimeTokens } from '../../contexts/identity/one-time-tokens.ts';
import { RefreshTokens } from '../../contexts/identity/refresh-tokens.ts';
import { tokenKeyGeneration, type TokenKeyGeneration } from '../../contexts/identity/token-key-generation.ts';
import { StandingSchedules } from '../../platform/jobs/standing-schedules.ts';
import type { AnyCommand } from '../../platform/kernel/command.ts';
import { openLimits } from '../config/limits.ts';
import { within } from '../../platform/observability/health.ts';
import { InstallationIdentity } from '../../contexts/installation/installation-identity.ts';
import { keyFingerprints } from '../../contexts/installation/key-fingerprints.ts';
import { newLogger } from '../../platform/observability/logger.ts';
import { maintenanceSchedules } from './maintenance-jobs.ts';
import { LogWatch } from '../../contexts/installation/log-watch.ts';
import { txtRecords } from '../../platform/outbound/txt-records.ts';
import { EFFECTS_AT_ONCE, ReactionRunner, type Effects } from '../../platform/projector/reaction-runner.ts';
import { Slots } from '../../platform/projector/slots.ts';
import { reactions } from '../../contexts/reactions.ts';
import { SignedAddresses } from '../../contexts/screenshots/signed-addresses.ts';
import { serviceMetrics } from '../operations/service-metrics.ts';
import { ServiceState } from '../operations/service-state.ts';
import { serviceProbes } from '../operations/service-probes.ts';
import type { Services } from './services.ts';
import { ListenerCertificate } from '../../contexts/certificates/listener-certificate.ts';
import { keysOf } from '../../platform/vault/keyrings.ts';

/** A house that stands: its services, and the way to take it down in order. */
export interface House {
  readonly services: Services;
  /** With its keys: for what an operator does beside the service. `services.config` has none. */
  readonly config: Config;
  readonly app: FastifyInstance;
  /** Where the two doors listen, once they do. */
  readonly addresses: { readonly http: string; readonly tls: string };
  stop(): Promise<void>;
}

/** The composition root: the only place that knows every part (`compose/` has the parts). What was started is stopped in reverse order. */
export async function compose(config: Config, options: ComposeOptions = {}): Promise<House> {
  const log = options.log ?? newLogger(config.logLevel);
  const closers: (() => Promise<unknown> | void)[] = [];
  const stop = () => stopInOrder(closers.splice(0).reverse(), config.drainMs, log);
  try {
    return { ...(await build({ config, options, log, onStop: (close) => void closers.push(close) })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What is left when the time is up has this long together. */
const LAST_MS = 1_000;

/** One part after the other, within a bounded time in all: a frozen database or client keeps no process from ending. */
async function stopInOrder(closers: (() => Promise<unknown> | void)[], withinMs: number, log: Logger): Promise<void> {
  const ends = performance.now() + withinMs;
  const close = (closer: () => Promise<unknown> | void, milliseconds: number) =>
    within(milliseconds, Promise.resolve().then(closer)).catch((error: unknown) =>
      log.warn({ reason: (error as Error).message }, 'a part did not stop cleanly'),
    );
  while (closers.length > 0 && performance.now() < ends) await close(closers.shift()!, ends - performance.now());
  await Promise.all(closers.map((closer) => close(closer, LAST_MS)));
}

async function build(site: Site): Promise<Omit<House, 'stop'>> {
  const { options, onStop } = site;
  const storage = await openStorage(site);
  const readSide = await openReadSide(site, storage);
  const writeSide = openWriteSide(site, storage, readSide, () => background.jobs);
  const background: Background = openBackground(site, storage, writeSide, readSide);
  const tokenKey = await tokenKeyGeneration(storage.database.owner, site.config.tokenKeyGeneration);
  const services = assemble(site, storage, writeSide, readSide, background, tokenKey);
  const watch = await watchLog(site, services);

  await services.projector.prepare();
  // Behind the tables: in a log that is empty read models need not be filled.
  await watch.adopt();
  services.live.start();
  onStop(() => services.live.stop());
  await startWork(site, services, storage.alone);
  const app = await buildServer(services, {
    ...(background.redis ? { redis: background.redis } : {}),
    idempotencyKeys: idempotencyKeysOf(storage),
  });
  onStop(() => app.close());
  const addresses = options.listen === false ? { http: '', tls: '' } : await openDoors(app, services, onStop);
  return { services, config: site.config, app, addresses };
}

/** Nothing is appended or projected before the log was held against what is known of it. */
async function watchLog(
  site: Site,
  { store, database, trust, installation, executor, tail, log, streamRetention }: Services,
): Promise<LogWatch> {
  trust.onDoubt(() => streamRetention.forget());
  const watch = new LogWatch({
    store,
    pool: database.projector,
    service: database.service,
    identity: installation,
    executor,
    tail,
    trust,
    log,
    projects: projects(site),
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

function assemble(
  { config, log }: Site,
  storage: Storage,
  writeSide: WriteSide,
  readSide: ReadSide,
  background: Background,
  tokenKey: TokenKeyGeneration,
): Services {
  const { keyrings, dataKeys, database, store, trust, codec, vault, personKeys } = storage;
  const { objects, ...commands } = writeSide;
  const { redis, ...later } = background;
  const { projector, live } = readSide;
  const sealAlarms = new SealAlarms();
  const limits = openLimits(() => database.service.ofNobody('select 1'));
  const oneTimeTokens = new OneTimeTokens(database.service);
  const credentialSalt = commands.credentialSalt;
  const bundleSigner = new BundleSigner(keyrings);
  const services: Services = {
    config: settingsOf(config),
    chainKey: new ChainKey(config.auditKey),
    chainWalking:
      store.feedAddress &&
      walkInThreads({
        feed: store.feedAddress,
        database: database.config,
        auditKey: config.auditKey,
        words: auditVocabulary(families),
      }),
    verifications: new SharedRuns(),
    pendingSamlRequests: new PendingRequests(oneTimeTokens, keyrings.current.key('saml-request')),
    extensionAnswers: new ExtensionAnswers({ ...readSide, credentialSalt, bundleSigner }),
    streamRetention: new StreamRetention(store),
    sealAlarms,
    log,
    families,
    database,
    store,
    trust,
    installation: new InstallationIdentity(database.projector, store, keyFingerprints(keyrings, config.auditKey)),
    codec,
    vault,
    personKeys,
    ...commands,
    ...readSide,
    ...later,
    screenshotAddresses: new SignedAddresses(keyrings.current.key('screenshot-addresses')),
    bundleSigner,
    listenerCertificate: () => listenerCertificate,
    accessTokens: new AccessTokens(keyrings, tokenKey),
    refreshTokens: new RefreshTokens(database.service, keyrings.current.key('refresh-successors')),
    knownBrowsers: new KnownBrowsers(keysOf(keyrings, 'known-browsers')),
    oneTimeTokens,
    observations: new ObservationAllowance(commands.ports.arrivals),
    technologies: new TechnologyAllowance(commands.ports.arrivals),
    lookups: liveLookups(live),
    domainChallenge: keyrings.current.digester('domain-challenges'),
    txtRecords: txtRecords(config.dnsServers),
    head: () => store.head(),
    limits,
    trustsProxy: trustedProxies(config.trustedProxies),
    state: new ServiceState({
      probes: serviceProbes({
        dataKeys,
        store,
        trust,
        database,
        projector,
        jobs: later.jobs,
        redis,
        objects,
        sealAlarms,
        fingerprint: keyrings.current.fingerprint,
      }),
      lagging: () => projector.lagging(),
      measure: serviceMetrics(store, trust, projector, later.jobs, limits),
    }),
  };
  const listenerCertificate = new ListenerCertificate(services);
  return services;
}

const projects = ({ config, options }: Site): boolean =>
  options.project ?? (config.role === 'all' || config.role === 'projector');

/** What this process does besides answering, by its role. */
async function startWork(site: Site, services: Services, alone: boolean): Promise<void> {
  const { config, log, onStop } = site;
  const { projector, jobs } = services;
  if (projects(site)) {
    await projector.start();
    onStop(() => projector.stop());
    await startReactions(site, services, alone);
    const sealer = new HeadSealer(services, services.sealAlarms);
    sealer.start();
    onStop(() => sealer.stop());
  }
  if (projects(site) || config.role === 'worker') {
    await jobs.start();
    const schedules = new StandingSchedules(jobs, maintenanceSchedules, log);
    schedules.start();
    onStop(() => schedules.stop());
  }
}

async function startReactions(
  { log, onStop }: Site,
  { database, projector, tail, trust, executor, jobs }: Services,
  alone: boolean,
): Promise<void> {
  const effects: Effects = {
    execute: (command: AnyCommand, input, issuer) => executor.execute(command, input, issuer),
    enqueueWithin: (client, request, jobOptions) => jobs.enqueueWithin(client, request, jobOptions),
  };
  const slots = new Slots(EFFECTS_AT_ONCE);
  for (const reaction of reactions) {
    const runner = new ReactionRunner(reaction, {
      pool: database.projector,
      cursors: projector.cursors,
      tail,
      trust,
      effects,
      log,
      alone,
      slots,
    });
    // Where log and tables contradict each other it waits: what it writes down would hide how far the tables had come.
    if (trust.doubt?.kind !== 'contradicted') await runner.prepare();
    runner.start();
    onStop(() => runner.stop());
  }
}
