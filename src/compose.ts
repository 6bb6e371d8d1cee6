import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import pg from 'pg';
import { auditLog } from '../projections/audit/audit-log.ts';
import { readModels } from '../projections/index.ts';
import type { AnyCommand } from './kernel/command.ts';
import { licensePublicKey } from './domain/licensing/license.ts';
import { families } from './domain/families.ts';
import { foldedEmail } from './domain/tenants/tenant.ts';
import type { Config } from './config.ts';
import { openDatabase } from './database/database.ts';
import { migrate } from './database/migrate.ts';
import { tenantReads } from './database/tenant-reads.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded/postgres.ts';
import { EventCodec } from './eventstore/codec.ts';
import { openEventStore } from './eventstore/open.ts';
import { AggregateLoader } from './execution/aggregate-loader.ts';
import { Executor } from './execution/executor.ts';
import { openJobs } from './jobs/open-jobs.ts';
import { migrateJobs } from './jobs/postgres/schema.ts';
import { alertStaleDevices } from './maintenance/alert-stale-devices.ts';
import { maintenanceJobs, maintenanceSchedules } from './maintenance/jobs.ts';
import { BundleSigner } from './extension/bundle-signer.ts';
import { ListenerCertificate } from './tls/listener-certificate.ts';
import { forwardAlertJob } from './portal/forward-alert.ts';
import { Portal } from './portal/portal.ts';
import { newLogger } from './logger.ts';
import { openObjects } from './objects/open-objects.ts';
import { guardedFetch } from './outbound/guarded-fetch.ts';
import { HeadSealer } from './audit/head-sealer.ts';
import { openDoors } from './http/doors.ts';
import { buildServer } from './http/server.ts';
import { trustedProxies } from './http/trusted-proxies.ts';
import { AccessTokens } from './identity/access-tokens.ts';
import { liveLookups } from './identity/lookups.ts';
import { OneTimeTokens } from './identity/one-time-tokens.ts';
import { Passwords } from './identity/passwords.ts';
import { RefreshTokens } from './identity/refresh-tokens.ts';
import { VerificationCodes } from './identity/verification-codes.ts';
import { VaultCertificateService } from './pki/certificate-service.ts';
import { newAuthority } from './pki/new-authority.ts';
import { FeedTail } from './projector/feed-tail.ts';
import { Freshness } from './projector/freshness.ts';
import { LiveState } from './projector/live-state.ts';
import { Projector } from './projector/projector.ts';
import { ReactionRunner, type Effects } from './projector/reaction-runner.ts';
import { reactions } from './reactions/index.ts';
import { forgetScreenshots } from './screenshots/forget-screenshots.ts';
import { Pictures } from './screenshots/pictures.ts';
import { SignedAddresses } from './screenshots/signed-addresses.ts';
import { sweepScreenshots } from './screenshots/sweep-screenshots.ts';
import type { CommandPorts, Services } from './services.ts';
import { CallBudget } from './threat-intel/call-budget.ts';
import { DomainScans } from './threat-intel/domain-scans.ts';
import { openProviders } from './threat-intel/open-providers.ts';
import { scanDomainJob } from './threat-intel/scan-domain.ts';
import { serviceMetrics } from './service-metrics.ts';
import { serviceProbes } from './service-probes.ts';
import { openKeyrings } from './vault/keyrings.ts';
import { PostgresPersonKeys } from './vault/postgres-person-keys.ts';
import { PostgresVault } from './vault/postgres-vault.ts';
import { vaultWorkbench } from './vault/vault-workbench.ts';
import { TenantDataKeys } from './vault/tenant-data-keys.ts';

/** A house that stands: its services, and the way to take it down in order. */
export interface House {
  readonly services: Services;
  readonly app: FastifyInstance;
  /** Where the two doors listen, once they do. */
  readonly addresses: { readonly http: string; readonly tls: string };
  stop(): Promise<void>;
}

export interface ComposeOptions {
  readonly log?: Logger;
  /** A database that somebody else runs and has migrated (tests); otherwise DATABASE_URL, otherwise the embedded one. */
  readonly database?: pg.ClientConfig;
  /** Leave the doors shut: for commands beside the service. */
  readonly listen?: boolean;
  /** Leave projections and reactions to the service: for commands beside it. */
  readonly project?: boolean;
  /** Checks passwords at another cost than the service's (tests, whose passwords are no secrets). */
  readonly passwords?: Passwords;
}

/** The composition root: the only place that knows every part. What was started is stopped in reverse order. */
export async function compose(config: Config, options: ComposeOptions = {}): Promise<House> {
  const log = options.log ?? newLogger(config.logLevel);
  const closers: (() => Promise<unknown> | void)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) {
      await Promise.resolve(close()).catch((error: unknown) => log.warn({ reason: (error as Error).message }, 'a part did not stop cleanly'));
    }
  };
  try {
    return await build(config, options, log, closers, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build(config: Config, options: ComposeOptions, log: Logger, closers: (() => Promise<unknown> | void)[], stop: () => Promise<void>): Promise<House> {
  const connection = options.database ?? (await databaseOf(config, log, closers));
  if (!options.database) {
    await migrate(connection);
    await prepareJobs(connection);
  }
  const database = openDatabase(connection, log);
  closers.push(() => database.close());

  const keyrings = await openKeyrings(database.owner, config.masterKey, config.otherMasterKey);
  const keyring = keyrings.current;
  const dataKeys = new TenantDataKeys(database.service, keyrings);
  const vault = new PostgresVault(database.service, dataKeys);
  const personKeys = new PostgresPersonKeys(database.service, dataKeys);
  const codec = new EventCodec(families, personKeys);
  // The service on its own embedded database; an operator's command beside it only looks at checkpoints.
  const alone = config.databaseUrl === undefined && !options.database;
  const store = await openEventStore(config, database, log, alone);
  closers.push(() => store.close());

  const loader = new AggregateLoader(store, codec);
  const digestAccount = keyring.digester('account');
  const digestClaim = keyring.digester('claim');
  const saltKey = keyring.digester('credential-salt');
  const accountDigest = (email: string) => digestAccount(foldedEmail(email));
  const passwords = options.passwords ?? new Passwords();
  const objects = openObjects(config);
  const pictures = new Pictures(objects, personKeys);
  const ports: CommandPorts = {
    aggregates: loader,
    vault,
    personKeys,
    passwords,
    licensePublicKey: licensePublicKey(config.licensePublicKey),
    accountDigest,
    newAuthority,
    certificates: new VaultCertificateService(vault),
    verificationCodes: new VerificationCodes(keyring.digester('verification-codes')),
    pictures,
    claimHolder: (tenantId, claim) => executor.claimHolder(tenantId, claim),
  };
  const executor: Executor<CommandPorts> = new Executor(store, codec, loader, digestClaim, () => vaultWorkbench(ports));

  const tail = await FeedTail.open(store, codec, log);
  closers.push(() => tail.close());
  const project = options.project ?? (config.role === 'all' || config.role === 'projector');
  const freshness: Freshness = new Freshness({ isNeeded: () => !projector.leads, readPositions: () => projector.livePositions() });
  // The audit chain is the one model that needs a key.
  const models = [...readModels, auditLog(config.auditKey, families)];
  const projector = new Projector({ pool: database.projector, store, codec, tail, models, freshness, log, alone });
  const live = new LiveState(tail, freshness, log);
  live.heed('EmployeeErased', ({ tenantId, data }) => personKeys.forget(tenantId, (data as { userId: string }).userId));
  const reads = tenantReads(database.reads);

  // The operator named the portal's address, so it may be a private one.
  const portal = new Portal(config.portal, guardedFetch({ allowPrivate: true }));
  const domainScans = new DomainScans({ executor, aggregates: loader, freshness, vault, budget: new CallBudget(database.service), providers: openProviders(config.threatIntel) });
  const catalogue = [
    ...maintenanceJobs(store, database, config),
    alertStaleDevices(database.projector, executor),
    forwardAlertJob({ portal, executor, reads }),
    scanDomainJob(domainScans),
    forgetScreenshots(pictures),
    sweepScreenshots({ objects, aggregates: loader, personKeys, projector: database.projector, kept: config }),
  ];
  const jobs = openJobs({ config: connection, redisUrl: config.redisUrl, jobs: catalogue, log });
  closers.push(() => jobs.close());
  const redis = config.redisUrl ? new Redis(config.redisUrl, { maxRetriesPerRequest: 1, enableOfflineQueue: false }) : undefined;
  redis?.on('error', (error) => log.warn({ reason: error.message }, 'Redis cannot be reached'));
  if (redis) closers.push(() => redis.disconnect());

  const services: Services = {
    config,
    jobs,
    log,
    database,
    store,
    codec,
    loader,
    executor,
    ports,
    tail,
    freshness,
    projector,
    vault,
    personKeys,
    portal,
    pictures,
    domainScans,
    screenshotAddresses: new SignedAddresses(keyring.key('screenshot-addresses')),
    bundleSigner: new BundleSigner(keyrings),
    listenerCertificate: () => listenerCertificate,
    passwords,
    accessTokens: new AccessTokens(keyrings, config.tokenKeyGeneration),
    refreshTokens: new RefreshTokens(database.service),
    oneTimeTokens: new OneTimeTokens(database.service),
    lookups: liveLookups(live, loader),
    live,
    models,
    mainModels: models.filter(({ lane }) => lane === 'main').map(({ name }) => name),
    families,
    accountDigest,
    credentialSalt: (tenantId) => saltKey(tenantId),
    reads,
    head: () => store.head(),
    trustsProxy: trustedProxies(config.trustedProxies),
    probes: serviceProbes({ store, database, projector, jobs, redis, objects, fingerprint: keyring.fingerprint }),
    laggingModels: () => projector.lagging(),
    measure: serviceMetrics(store, projector, jobs),
  };

  const listenerCertificate = new ListenerCertificate(services);
  await projector.prepare();
  live.start();
  closers.push(() => live.stop());
  if (project) {
    await projector.start();
    closers.push(() => projector.stop());
    await startReactions(services, alone, closers);
    const sealer = new HeadSealer(services);
    sealer.start();
    closers.push(() => sealer.stop());
  }
  if (project || config.role === 'worker') {
    await jobs.start();
    for (const [key, schedule] of Object.entries(maintenanceSchedules)) await jobs.schedule(key, schedule);
  }
  const app = await buildServer(services, { ...(redis ? { redis } : {}), idempotencyKey: keyring.key('idempotent-answers') });
  closers.push(() => app.close());
  const addresses = options.listen === false ? { http: '', tls: '' } : await openDoors(app, services, closers);
  return { services, app, addresses, stop };
}

async function prepareJobs(connection: pg.ClientConfig): Promise<void> {
  const owner = new pg.Pool({ ...connection, max: 1 });
  await migrateJobs(owner).finally(() => owner.end());
}

async function databaseOf(config: Config, log: Logger, closers: (() => Promise<unknown> | void)[]): Promise<pg.ClientConfig> {
  if (config.databaseUrl) return { connectionString: config.databaseUrl };
  const embedded: EmbeddedPostgres = await startEmbeddedPostgres({
    dataDir: join(config.dataDir, 'postgres'),
    log: (line) => log.debug({ module: 'postgres' }, line),
    onExit: (reason) => {
      log.fatal({ reason }, 'the embedded database ended');
      process.exitCode = 1;
      process.kill(process.pid, 'SIGTERM');
    },
  });
  closers.push(() => embedded.stop());
  return { ...embedded.connection };
}

async function startReactions(services: Services, alone: boolean, closers: (() => Promise<unknown> | void)[]): Promise<void> {
  const { database, projector, tail, log, executor, jobs } = services;
  const effects: Effects = {
    execute: (command: AnyCommand, input, issuer) => executor.execute(command, input, issuer),
    enqueueWithin: (client, job, data, jobOptions) => jobs.enqueueWithin(client, job, data, jobOptions),
  };
  for (const reaction of reactions) {
    const runner = new ReactionRunner(reaction, { pool: database.projector, cursors: projector.cursors, tail, effects, log, alone });
    await runner.prepare();
    runner.start();
    closers.push(() => runner.stop());
  }
}
