import yazl from 'yazl';
import type { Settings } from '../config/config.ts';
import { rejectAfter } from '../../platform/observability/health.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { version } from '../../platform/version.ts';
import { recentLogLines } from '../../platform/observability/recent-log-lines.ts';
import type { Projector } from '../../platform/projector/projector.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { ServiceState } from './service-state.ts';
import type { Position } from '../../platform/kernel/event.ts';

export interface SupportBundleDependencies {
  readonly config: Settings;
  readonly projector: Projector;
  readonly jobs: Jobs;
  readonly state: ServiceState;
  head(): Promise<Position>;
}

/** If Redis does not reply in this time, the bundle says null for the jobs. */
const COUNTS_MS = 2_000;

/** An explicit list, so that no new setting enters the bundle by accident. Of secrets, only whether one is set. */
const settingsOf = (config: Settings) => ({
  role: config.role,
  database: config.databaseUrl === undefined ? 'embedded' : 'external',
  eventStore: config.eventStoreUrl === undefined ? 'postgres' : 'eventstoredb',
  redis: config.redisUrl !== undefined,
  port: config.port,
  tlsPort: config.tlsPort,
  recoveryKeyConfigured: config.recoveryKey !== undefined,
  metricsTokenConfigured: config.metricsToken !== undefined,
  portalConfigured: config.portal !== undefined,
  adminRateLimit: config.adminRateLimit,
  addressRateLimit: config.addressRateLimit,
  enrollRateLimit: config.enrollRateLimit,
  scimRateLimit: config.scimRateLimit,
  trustedProxies: config.trustedProxies.length,
  eventRetentionDays: config.eventRetentionDays,
  streamRetentionDays: config.streamRetentionDays,
  tokenKeyGeneration: config.tokenKeyGeneration,
  devMode: config.devMode,
  logLevel: config.logLevel,
});

/** Log lines about this process or this tenant. Lines that name another or an unknown tenant are left out. */
function linesFor(tenantId: TenantId): readonly string[] {
  return recentLogLines.all.filter((line) => {
    try {
      const { tenantId: named } = JSON.parse(line) as { tenantId?: unknown };
      return named === undefined || named === tenantId;
    } catch {
      return false;
    }
  });
}

/**
 * The support bundle (choice OP-105): version, settings, health, the state of every projection, whether jobs wait or have
 * failed, and the last thousand log lines. It holds no secrets, no telemetry, and nothing of other tenants, not even counts.
 */
export async function supportBundle(services: SupportBundleDependencies, tenantId: TenantId): Promise<Buffer> {
  const { config, state, projector, jobs } = services;
  const [health, head, checkpoints, counts, { lagging }] = await Promise.all([
    state.health(),
    services.head(),
    projector.checkpoints.all(),
    rejectAfter(COUNTS_MS, jobs.counts()).catch(() => null),
    state.readiness(),
  ]);
  // No positions or job counts: they add up the activity of all tenants. Operators see them in metrics and the CLI.
  const projections = checkpoints.map(({ name, version: model, generation, lane, kind, state, position }) => ({
    name,
    version: model,
    generation,
    lane,
    kind,
    state,
    isUpToDate: position >= head,
  }));
  const jobStates =
    counts && Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, Number(count) > 0]));
  const { platform, arch } = process;
  const files: Readonly<Record<string, unknown>> = {
    'about.json': { version, createdAt: new Date().toISOString(), tenantId, node: process.version, platform, arch },
    'config.json': settingsOf(config),
    'health.json': health,
    'projections.json': { lagging, projections },
    'jobs.json': jobStates,
  };
  const archive = new yazl.ZipFile();
  for (const [name, content] of Object.entries(files))
    archive.addBuffer(Buffer.from(`${JSON.stringify(content, null, 2)}\n`), name);
  archive.addBuffer(
    Buffer.from(
      linesFor(tenantId)
        .map((line) => `${line}\n`)
        .join(''),
    ),
    'log.ndjson',
  );
  archive.end();
  const parts: Buffer[] = [];
  for await (const part of archive.outputStream) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}
