import { ObservationAllowance } from '../../contexts/telemetry/observation-allowance.ts';
import { TechnologyAllowance } from '../../contexts/discovery/technology-allowance.ts';
import { ProofKey } from '../../contexts/audit/proof-key.ts';
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
import { SealAlarms } from '../../contexts/audit/seal-alarms.ts';
import { Forwarder } from '../../contexts/log-destinations/forwarding/forwarder.ts';
import { DestinationSinks } from '../../contexts/log-destinations/forwarding/destination-sinks.ts';
import { RefusedRecords } from '../../contexts/log-destinations/refused-records.ts';
import { forwardingMetrics } from '../operations/forwarding-metrics.ts';
import type { Background } from './background.ts';
import type { ReadSide } from './read-side.ts';
import type { CompositionContext } from './composition-context.ts';
import type { Storage } from './storage.ts';
import type { WriteSide } from './write-side.ts';
import { settingsOf } from '../config/config.ts';
import { families } from '../../contexts/families.ts';
import { BundleSigner } from '../../contexts/policies/bundle-signer.ts';
import { StreamRetention } from '../../contexts/telemetry/telemetry-retention.ts';
import { trustedProxies } from '../http/trusted-proxies.ts';
import { AccessTokens } from '../../contexts/identity/access-tokens.ts';
import { KnownBrowsers } from '../../contexts/identity/known-browsers.ts';
import { liveLookups } from '../../contexts/identity/lookups.ts';
import { OneTimeTokens } from '../../contexts/identity/one-time-tokens.ts';
import { LogDoubts } from '../../contexts/installation/log-doubts.ts';
import { UnfinishedRestore } from '../../contexts/installation/restore/unfinished-restore.ts';
import { ReadyPersonIds } from '../../contexts/employees/ready-person-ids.ts';
import { SameCreations } from '../../contexts/employees/same-creations.ts';
import { ScimTokens } from '../../contexts/scim/access-tokens.ts';
import { RecordedSsoRefusals } from '../../contexts/sso/recorded-refusals.ts';
import { RefusedScimClients } from '../../contexts/scim/refused-scim-clients.ts';
import { ReturnedTokens } from '../../contexts/enrollment/returned-tokens.ts';
import { RefreshTokens } from '../../contexts/identity/refresh-tokens.ts';
import type { TokenKeyGeneration } from '../../contexts/identity/token-key-generation.ts';
import { openLimits } from '../config/limits.ts';
import { InstallationIdentity } from '../../contexts/installation/installation-identity.ts';
import { keyFingerprints } from '../../contexts/installation/key-fingerprints.ts';
import { txtRecords } from '../../platform/outbound/txt-records.ts';
import { CalendarAddresses } from '../../contexts/on-call/calendar-addresses.ts';
import { SignedAddresses } from '../../contexts/screenshots/signed-addresses.ts';
import { deliveryFigures } from '../operations/delivery-figures.ts';
import { expiryMetrics } from '../operations/expiry-metrics.ts';
import { serviceMetrics } from '../operations/service-metrics.ts';
import { ServiceState } from '../operations/service-state.ts';
import { projects } from './start-work.ts';
import { serviceProbes } from '../operations/service-probes.ts';
import type { ServiceContainer } from './service-container.ts';
import { ListenerCertificate } from '../../contexts/certificates/listener-certificate.ts';
import { keysOf } from '../../platform/vault/keyrings.ts';

/** Everything that requests, jobs and operators use, made from the opened parts. */
export function assembleServices(
  composition: CompositionContext,
  storage: Storage,
  writeSide: WriteSide,
  readSide: ReadSide,
  background: Background,
  tokenKey: TokenKeyGeneration,
): ServiceContainer {
  const { config, log, onStop } = composition;
  const { keyrings, dataKeys, database, store, trust, codec, vault, personKeys } = storage;
  const { objects, ...commands } = writeSide;
  const { redis, ...later } = background;
  const { projector, cache } = readSide;
  const sealAlarms = new SealAlarms();
  const samlResponses = { reader: new ThreadedResponseReader(), schema: new SchemaValidation() };
  onStop(() => samlResponses.reader.close());
  const refusedScimClients = new RefusedScimClients({ executor: commands.executor, log });
  onStop(() => refusedScimClients.settled());
  const limits = openLimits(() => database.service.asSystem('select 1'));
  const oneTimeTokens = new OneTimeTokens(database.service);
  const credentialSalt = commands.credentialSalt;
  const bundleSigner = new BundleSigner(keyrings);
  const destinationSinks = new DestinationSinks(readSide.loader, vault, config);
  const services: ServiceContainer = {
    config: settingsOf(config),
    chainKey: new ChainKey(config.auditKey),
    proofKey: new ProofKey(config.auditKey),
    chainWalking:
      store.logAddress &&
      verifySegmentsInThreads({
        log: store.logAddress,
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
    logDoubts: new LogDoubts(database.projector),
    unfinishedRestore: new UnfinishedRestore(database.projector),
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
    readyPersonIds: new ReadyPersonIds(personKeys),
    sameCreations: new SameCreations(),
    scimTokens: new ScimTokens(database.service),
    refusedScimClients,
    returnedTokens: new ReturnedTokens(commands.executor),
    ssoRefusals: new RecordedSsoRefusals(commands.executor),
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
        dataDir: config.dataDir,
        fingerprint: keyrings.current.fingerprint,
      }),
      lagging: () => projector.lagging(),
      projects: projects(composition),
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
