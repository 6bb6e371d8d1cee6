import type { FastifyInstance } from 'fastify';
import { ObservationAllowance } from '../../contexts/telemetry/observation-allowance.ts';
import { TechnologyAllowance } from '../../contexts/discovery/technology-allowance.ts';
import type { Logger } from 'pino';
import { ChainKey } from '../../contexts/audit/domain/chain-key.ts';
import { auditVocabulary } from '../../contexts/audit/domain/vocabulary.ts';
import { SharedRuns } from '../../contexts/audit/shared-runs.ts';
import { verifySegmentsInThreads } from '../../contexts/audit/segment-verification-threads.ts';
import { RolloutDirections } from '../../contexts/extension-rollouts/rollout-directions.ts';
import { ExtensionResponses } from '../../contexts/policies/extension-responses.ts';
import { PendingRequests } from '../../contexts/sso/saml/pending-requests.ts';
import { OidcSessions } from '../../contexts/sso/oidc-sessions.ts';
import { ProviderSessions } from '../../contexts/sso/saml/provider-sessions.ts';
import { SchemaValidation } from '../../contexts/sso/saml/schema-validation.ts';
import { ThreadedResponseReader } from '../../contexts/sso/saml/response-reader.ts';
import { HeadSealer } from '../../contexts/audit/head-sealer.ts';
import { SealAlarms } from '../../contexts/audit/seal-alarms.ts';
import { isNeedlessPush } from '../../contexts/notifications/push/plan-pushes.ts';
import { Forwarder } from '../../contexts/log-destinations/forwarding/forwarder.ts';
import { DestinationSinks } from '../../contexts/log-destinations/forwarding/destination-sinks.ts';
import { RefusedRecords } from '../../contexts/log-destinations/refused-records.ts';
import { forwardingMetrics } from '../operations/forwarding-metrics.ts';
import { openBackground, type Background } from './background.ts';
import { openReadSide, type ReadSide } from './read-side.ts';
import type { ComposeOptions, CompositionContext } from './composition-context.ts';
import { openStorage, type Storage } from './storage.ts';
import { openWriteSide, type WriteSide } from './write-side.ts';
import { settingsOf, type Config } from '../config/config.ts';
import { families } from '../../contexts/families.ts';
import { BundleSigner } from '../../contexts/policies/bundle-signer.ts';
import { startListeners } from '../http/listeners.ts';
import { buildServer } from '../http/server.ts';
import { StreamRetention } from '../../contexts/telemetry/telemetry-retention.ts';
import { trustedProxies } from '../http/trusted-proxies.ts';
import { AccessTokens } from '../../contexts/identity/access-tokens.ts';
import { KnownBrowsers } from '../../contexts/identity/known-browsers.ts';
import { liveLookups } from '../../contexts/identity/lookups.ts';
import { OneTimeTokens } from '../../contexts/identity/one-time-tokens.ts';
import { ScimTokens } from '../../contexts/scim/access-tokens.ts';
import { RefreshTokens } from '../../contexts/identity/refresh-tokens.ts';
import { tokenKeyGeneration, type TokenKeyGeneration } from '../../contexts/identity/token-key-generation.ts';
import { PersistentSchedules } from '../../platform/jobs/persistent-schedules.ts';
import type { AnyCommand } from '../../platform/kernel/command.ts';
import { isFailure } from '../../platform/kernel/failure.ts';
import { openLimits } from '../config/limits.ts';
import { rejectAfter } from '../../platform/observability/health.ts';
import { InstallationIdentity } from '../../contexts/installation/installation-identity.ts';
import { keyFingerprints } from '../../contexts/installation/key-fingerprints.ts';
import { newLogger } from '../../platform/observability/logger.ts';
import { maintenanceSchedules } from './maintenance-jobs.ts';
import { LogWatch } from '../../contexts/installation/log-watch.ts';
import { txtRecords } from '../../platform/outbound/txt-records.ts';
import { EFFECTS_AT_ONCE, ReactionRunner, type EffectPorts } from '../../platform/projector/reaction-runner.ts';
import { ConcurrencyLimiter } from '../../platform/projector/concurrency-limiter.ts';
import { reactions } from '../../contexts/reactions.ts';
import { CalendarAddresses } from '../../contexts/on-call/calendar-addresses.ts';
import { SignedAddresses } from '../../contexts/screenshots/signed-addresses.ts';
import { deliveryFigures } from '../operations/delivery-figures.ts';
import { expiryMetrics } from '../operations/expiry-metrics.ts';
import { serviceMetrics } from '../operations/service-metrics.ts';
import { ServiceState } from '../operations/service-state.ts';
import { serviceProbes } from '../operations/service-probes.ts';
import type { ServiceContainer } from './service-container.ts';
import { ListenerCertificate } from '../../contexts/certificates/listener-certificate.ts';
import { keysOf } from '../../platform/vault/keyrings.ts';

/** A running application. `stop` ends its parts in order. */
export interface Application {
  readonly services: ServiceContainer;
  /** Includes the keys, for operator commands. `services.config` has none. */
  readonly config: Config;
  readonly app: FastifyInstance;
  /** Addresses of the two listeners; empty if there are none. */
  readonly addresses: { readonly http: string; readonly tls: string };
  stop(): Promise<void>;
}

/** The composition root: the only place that knows every part. Parts are stopped in reverse order of their start. */
export async function compose(config: Config, options: ComposeOptions = {}): Promise<Application> {
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

/** Parts that are left at the end of the drain time are then stopped together, within this time. */
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
  const tokenKey = await tokenKeyGeneration(storage.database.owner, composition.config.tokenKeyGeneration);
  const services = assemble(composition, storage, writeSide, readSide, background, tokenKey);
  const watch = await watchLog(composition, services);

  await services.projector.prepare();
  // After the tables are prepared: with an empty log, read models need no replay.
  await watch.adopt();
  services.cache.start();
  onStop(() => services.cache.stop());
  await startWork(composition, services, storage.alone);
  const app = await buildServer(services, {
    ...(background.redis ? { redis: background.redis } : {}),
    idempotencyKeys: idempotencyKeysOf(storage),
  });
  onStop(() => app.close());
  const addresses = options.listen === false ? { http: '', tls: '' } : await startListeners(app, services, onStop);
  return { services, config: composition.config, app, addresses };
}

/** Checks the event log against this installation's records before anything is appended or projected. */
async function watchLog(
  site: CompositionContext,
  { store, database, trust, installation, executor, subscription, log, streamRetention }: ServiceContainer,
): Promise<LogWatch> {
  trust.onDoubt(() => streamRetention.forget());
  const watch = new LogWatch({
    store,
    pool: database.projector,
    service: database.service,
    identity: installation,
    executor,
    subscription,
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
  { config, log, onStop }: CompositionContext,
  storage: Storage,
  writeSide: WriteSide,
  readSide: ReadSide,
  background: Background,
  tokenKey: TokenKeyGeneration,
): ServiceContainer {
  const { keyrings, dataKeys, database, store, trust, codec, vault, personKeys } = storage;
  const { objects, ...commands } = writeSide;
  const { redis, ...later } = background;
  const { projector, cache } = readSide;
  const sealAlarms = new SealAlarms();
  const samlResponses = { reader: new ThreadedResponseReader(), schema: new SchemaValidation() };
  onStop(() => samlResponses.reader.close());
  const limits = openLimits(() => database.service.asSystem('select 1'));
  const oneTimeTokens = new OneTimeTokens(database.service);
  const credentialSalt = commands.credentialSalt;
  const bundleSigner = new BundleSigner(keyrings);
  const destinationSinks = new DestinationSinks(readSide.loader, vault, config);
  const services: ServiceContainer = {
    config: settingsOf(config),
    chainKey: new ChainKey(config.auditKey),
    chainWalking:
      store.logAddress &&
      verifySegmentsInThreads({
        feed: store.logAddress,
        database: database.config,
        auditKey: config.auditKey,
        words: auditVocabulary(families),
      }),
    verifications: new SharedRuns(),
    samlResponses,
    oidcSessions: new OidcSessions(database.service, keysOf(keyrings, 'oidc-sessions')),
    samlSessions: new ProviderSessions(database.service, keyrings.current.key('saml-sessions')),
    pendingSamlRequests: new PendingRequests(oneTimeTokens, keyrings.current.key('saml-request')),
    extensionResponses: new ExtensionResponses({ ...readSide, credentialSalt, bundleSigner }),
    rolloutDirections: new RolloutDirections(readSide),
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
    calendarAddresses: new CalendarAddresses(keysOf(keyrings, 'on-call-calendars')),
    bundleSigner,
    listenerCertificate: () => listenerCertificate,
    accessTokens: new AccessTokens(keyrings, tokenKey),
    refreshTokens: new RefreshTokens(database.service, keyrings.current.key('refresh-successors')),
    knownBrowsers: new KnownBrowsers(keysOf(keyrings, 'known-browsers')),
    oneTimeTokens,
    scimTokens: new ScimTokens(database.service),
    observations: new ObservationAllowance(commands.ports.arrivals),
    technologies: new TechnologyAllowance(commands.ports.arrivals),
    lookups: liveLookups(cache),
    domainChallenge: keyrings.current.digester('domain-challenges'),
    txtRecords: txtRecords(config.dnsServers),
    head: () => store.head(),
    destinationSinks,
    refusedRecords: new RefusedRecords({ pool: database.service, store, codec, sinks: destinationSinks }),
    forwarder: new Forwarder({
      ...readSide,
      pool: database.projector,
      store,
      codec,
      trust,
      sinks: destinationSinks,
      log,
    }),
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
      measure: together(
        serviceMetrics(store, trust, projector, later.jobs, limits),
        forwardingMetrics(() => services.forwarder.lags),
        expiryMetrics({ database, sealAlarms, listenerCertificate: () => listenerCertificate }),
        deliveryFigures(database.projector),
      ),
    }),
  };
  const listenerCertificate = new ListenerCertificate(services);
  return services;
}

/** All parts are updated, although one may fail. */
const together =
  (...parts: readonly (() => Promise<void>)[]) =>
  async (): Promise<void> => {
    const failed = (await Promise.allSettled(parts.map((part) => part()))).find(({ status }) => status === 'rejected');
    if (failed) throw new Error('some figures could not be updated', { cause: failed });
  };

const projects = ({ config, options }: CompositionContext): boolean =>
  options.project ?? (config.role === 'all' || config.role === 'projector');

/** Starts the work of this process's role besides serving requests. */
async function startWork(composition: CompositionContext, services: ServiceContainer, alone: boolean): Promise<void> {
  const { config, log, onStop } = composition;
  const { projector, jobs } = services;
  if (projects(composition)) {
    await projector.start();
    onStop(() => projector.stop());
    await startReactions(composition, services, alone);
    const sealer = new HeadSealer(services, services.sealAlarms);
    sealer.start();
    onStop(() => sealer.stop());
  }
  if (projects(composition) || config.role === 'worker') {
    await jobs.start();
    // An update whose command restarted the service is recorded at once.
    void services.updateRuns
      .settle()
      .catch((error: unknown) => log.warn({ reason: (error as Error).message }, 'updates could not be settled'));
    services.forwarder.start();
    onStop(() => services.forwarder.stop());
    const schedules = new PersistentSchedules(jobs, maintenanceSchedules, log);
    schedules.start();
    onStop(() => schedules.stop());
  }
}

async function startReactions(
  { log, onStop }: CompositionContext,
  { database, projector, subscription, trust, executor, jobs, deliverySender, notificationSettings }: ServiceContainer,
  alone: boolean,
): Promise<void> {
  const effects: EffectPorts = {
    async execute(command: AnyCommand, input, execution) {
      const outcome = await executor.execute(command, input, execution);
      if (!isFailure(outcome)) deliverySender.wake(execution.tenantId, outcome.events);
      return outcome;
    },
    enqueueWithin: (client, request, jobOptions) => jobs.enqueueWithin(client, request, jobOptions),
    isNeedless: async (request) =>
      deliverySender.wasWokenFor(request) || (await isNeedlessPush(request, notificationSettings)),
  };
  const limiter = new ConcurrencyLimiter(EFFECTS_AT_ONCE);
  for (const reaction of reactions) {
    const runner = new ReactionRunner(reaction, {
      pool: database.projector,
      checkpoints: projector.checkpoints,
      subscription,
      trust,
      effects,
      log,
      alone,
      limiter,
    });
    // If log and tables contradict each other, do not prepare: it would overwrite how far the tables had come.
    if (trust.doubt?.kind !== 'contradicted') await runner.prepare();
    runner.start();
    onStop(() => runner.stop());
  }
}
