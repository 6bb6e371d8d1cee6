import { Redis } from 'ioredis';
import { connectionsOf } from '../../platform/database/connections.ts';
import { openJobs } from '../../platform/jobs/open-jobs.ts';
import { watchRollouts } from '../../contexts/extension-rollouts/watch-rollouts.ts';
import { alertStaleDevices } from '../../contexts/devices/alert-stale-devices.ts';
import { maintenanceJobs } from './maintenance-jobs.ts';
import { guardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import { forwardAlertJob } from '../../contexts/alerts/forward-alert.ts';
import { Portal } from '../../contexts/alerts/portal.ts';
import { offboardPersonJob } from '../../contexts/employees/offboard-person.ts';
import { resumeOffboardings } from '../../contexts/employees/resume-offboardings.ts';
import { forgetTelemetry } from '../../contexts/employees/forget-telemetry.ts';
import { destroySecrets } from '../../platform/vault/vault-disposal.ts';
import { forgetScreenshots } from '../../contexts/screenshots/forget-screenshots.ts';
import { sweepScreenshots } from '../../contexts/screenshots/sweep-screenshots.ts';
import { RepeatedWarnings } from '../../platform/observability/repeated-warnings.ts';
import type { ServiceContainer } from './service-container.ts';
import { CallBudget } from '../../contexts/threat-intel/call-budget.ts';
import { DomainScans } from '../../contexts/threat-intel/domain-scans.ts';
import { openProviders } from '../../contexts/threat-intel/open-providers.ts';
import { DirectoryReaders } from '../../contexts/directory-sources/open-reader.ts';
import { releaseProvisionedPeople } from '../../contexts/employees/release-people.ts';
import { DirectorySyncs } from '../../contexts/directory-sources/sync-directory.ts';
import { syncDirectoryJob, syncDueDirectories } from '../../contexts/directory-sources/sync-jobs.ts';
import { BundleStore } from '../../contexts/updates/bundle-store.ts';
import { MAX_ANNOUNCEMENT_BYTES, UpdateAnnouncements } from '../../contexts/updates/update-announcements.ts';
import { updateDownloadJobs, updateJobs } from '../../contexts/updates/update-jobs.ts';
import { DOWNLOAD_TIMEOUT_MS, MAX_BUNDLE_BYTES, UpdateDownloads } from '../../contexts/updates/update-downloads.ts';
import { downloadNamedBy } from '../../platform/outbound/destinations.ts';
import { UpdateRuns } from '../../contexts/updates/update-runs.ts';
import { scanDomainJob } from '../../contexts/threat-intel/scan-domain.ts';
import { openPushServices } from '../../contexts/notifications/push/open-push-services.ts';
import { planPushesJob } from '../../contexts/notifications/push/plan-pushes.ts';
import { escalatePageJob, findDuePages } from '../../contexts/on-call/escalate-pages.ts';
import { ShiftCalendars } from '../../contexts/on-call/domain/shift-calendars.ts';
import { DeliverySender } from '../../contexts/notifications/delivery-sender.ts';
import { sendDelivery, sweepDeliveries } from '../../contexts/notifications/sweep-deliveries.ts';
import { replayWebhooks } from '../../contexts/notifications/replay-webhooks.ts';
import { notificationChannels } from './notification-channels.ts';
import type { ReadSide } from './read-side.ts';
import type { CompositionContext } from './composition-context.ts';
import type { Storage } from './storage.ts';
import type { WriteSide } from './write-side.ts';

export interface Background extends Pick<
  ServiceContainer,
  | 'jobs'
  | 'portal'
  | 'domainScans'
  | 'directoryReaders'
  | 'deliverySender'
  | 'updateBundles'
  | 'updateAnnouncements'
  | 'updateRuns'
  | 'updateDownloads'
  | 'shiftCalendars'
> {
  readonly redis: Redis | undefined;
}

/** Requests wait for this long. If Redis takes longer, the process counts alone (`http/plugins/rate-counters.ts`). */
const REDIS_ANSWER_MS = 250;
/** A connection that has been silent for this long is made anew. */
const REDIS_SILENT_MS = 5_000;

/** Background jobs and the external services that they call. */
export function openBackground(
  { config, log, onStop }: CompositionContext,
  storage: Storage,
  { executor, accountDigest, objects, pictures }: WriteSide,
  { loader, freshness, reads, notificationSettings }: ReadSide,
): Background {
  const { connection, codec, database, store, trust, vault, personKeys } = storage;
  // The operator named the portal's address, so it may be a private one.
  const portal = new Portal(config.portal, guardedFetch({ allowPrivate: true, keepsConnections: true }));
  const domainScans = new DomainScans({
    executor,
    aggregates: loader,
    freshness,
    vault,
    budget: new CallBudget(database.service),
    providers: openProviders(config.threatIntel),
  });
  const directoryReaders = new DirectoryReaders(loader, vault, config);
  const syncPorts = {
    executor,
    freshness,
    reads,
    log,
    aggregates: loader,
    readers: directoryReaders,
    pool: database.service,
    head: () => store.head(),
    accountDigest,
  };
  const offboarding = { executor, aggregates: loader, freshness, reads, head: () => store.head() };
  const shiftCalendars = new ShiftCalendars();
  const pushServices = openPushServices(config.push, log);
  const deliverySender = new DeliverySender(
    { executor, store, codec, log, jobs: () => jobs },
    notificationChannels({
      config,
      executor,
      aggregates: loader,
      settings: notificationSettings,
      vault,
      pushServices,
    }),
  );
  const { updates, dataDir } = config;
  const updateBundles = new BundleStore(objects, dataDir);
  const updateRuns = new UpdateRuns({
    executor,
    aggregates: loader,
    bundles: updateBundles,
    settings: updates,
    dataDir,
  });
  // The operator named the feed, so it may have a private address.
  const updateAnnouncements = new UpdateAnnouncements(
    updates,
    guardedFetch({ allowPrivate: true, maxBytes: MAX_ANNOUNCEMENT_BYTES }),
  );
  const callPorts = {
    executor,
    store,
    codec,
    freshness,
    reads,
    calendars: shiftCalendars,
    aggregates: loader,
    head: () => store.head(),
  };
  const updateDownloads = new UpdateDownloads({
    executor,
    aggregates: loader,
    announcements: updateAnnouncements,
    bundles: updateBundles,
    download: downloadNamedBy(config, updates.feedUrl, { maxBytes: MAX_BUNDLE_BYTES, timeoutMs: DOWNLOAD_TIMEOUT_MS }),
    settings: updates,
  });
  const catalogue = [
    planPushesJob({ ...callPorts, settings: notificationSettings }),
    escalatePageJob(callPorts),
    findDuePages({ projector: database.projector, jobs: () => jobs }),
    sendDelivery(deliverySender),
    replayWebhooks({ executor, store, codec, reads, aggregates: loader, jobs: () => jobs }),
    sweepDeliveries({ projector: database.projector, executor, jobs: () => jobs }),
    ...maintenanceJobs(store, database, config),
    forgetTelemetry(store),
    offboardPersonJob(offboarding),
    resumeOffboardings(database.projector, offboarding),
    alertStaleDevices(database.projector, executor),
    watchRollouts(database.projector, executor),
    forwardAlertJob({ portal, executor, reads }),
    scanDomainJob(domainScans, reads),
    syncDirectoryJob(new DirectorySyncs(syncPorts)),
    syncDueDirectories({ projector: database.projector, service: database.service, executor, jobs: () => jobs }),
    releaseProvisionedPeople({ ...syncPorts, jobs: () => jobs }),
    forgetScreenshots(pictures),
    destroySecrets(store, vault),
    ...updateJobs(updateRuns),
    ...updateDownloadJobs(updateDownloads),
    sweepScreenshots({ objects, aggregates: loader, personKeys, projector: database.projector, trust, kept: config }),
  ];
  const jobs = openJobs({
    config: connection,
    redisUrl: config.redisUrl,
    connections: connectionsOf(config.role, { redis: false }).jobs,
    jobs: catalogue,
    log,
  });
  onStop(() => Promise.all(Object.values(pushServices).map((service) => service.close())).then(() => undefined));
  onStop(() => jobs.close());
  onStop(() => deliverySender.stop());
  const redis = config.redisUrl
    ? new Redis(config.redisUrl, {
        maxRetriesPerRequest: 1,
        enableOfflineQueue: false,
        connectTimeout: 2_000,
        commandTimeout: REDIS_ANSWER_MS,
        socketTimeout: REDIS_SILENT_MS,
        retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
      })
    : undefined;
  const warnings = new RepeatedWarnings(log);
  redis?.on('error', (error) => warnings.warn({ reason: error.message }, 'Redis cannot be reached'));
  if (redis) onStop(() => redis.disconnect());
  return {
    jobs,
    portal,
    domainScans,
    directoryReaders,
    deliverySender,
    shiftCalendars,
    updateBundles,
    updateAnnouncements,
    updateRuns,
    updateDownloads,
    redis,
  };
}
