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

/** The jobs may be in a Redis that is away: then the bundle says null. */
const COUNTS_MS = 2_000;

/** Named one by one, so that a setting which is added later is not in the bundle by accident. Of secrets only whether there is one. */
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
  enrollRateLimit: config.enrollRateLimit,
  trustedProxies: config.trustedProxies.length,
  eventRetentionDays: config.eventRetentionDays,
  streamRetentionDays: config.streamRetentionDays,
  tokenKeyGeneration: config.tokenKeyGeneration,
  devMode: config.devMode,
  logLevel: config.logLevel,
});

/** What this process said about itself or about this tenant; what names another tenant, or a caller whose tenant is unknown, is nobody else's business. */
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
 * What support needs to see of an installation that misbehaves (choice OP-105): version, settings, health, how far every projection has
 * come, whether jobs wait or have failed, and the last thousand log lines. No secrets, no telemetry, nothing of other tenants, and no number that counts them.
 */
export async function supportBundle(services: SupportBundleDependencies, tenantId: TenantId): Promise<Buffer> {
  const { config, state, projector, jobs } = services;
  const [health, head, cursors, counts, { lagging }] = await Promise.all([
    state.health(),
    services.head(),
    projector.checkpoints.all(),
    rejectAfter(COUNTS_MS, jobs.counts()).catch(() => null),
    state.readiness(),
  ]);
  // Positions and numbers of jobs count what all tenants do together: an operator has them in the metrics and on the command line.
  const projections = cursors.map(({ name, version: model, generation, lane, kind, state, position }) => ({
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
