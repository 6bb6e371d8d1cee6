import { v5 } from 'uuid';
import { z } from 'zod';
import type pg from 'pg';
import { raiseAlert, type RaiseAlert } from '../../../commands/alerts/raise-alert.ts';
import { maintenanceQuery } from '../../platform/database/time-limits.ts';
import { tenantSettings } from '../settings/domain/tenant-settings.resource.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../platform/jobs/job.ts';
import { system } from '../../platform/kernel/actor.ts';
import { isFailure } from '../../platform/kernel/failure.ts';
import { asTenantId } from '../../platform/kernel/ids.ts';
import type { CommandPorts } from '../../../commands/ports.ts';

const AT_ONCE = 500;
/** The statement time limit is long because the query reads the devices of all tenants. */
const TIME_LIMIT_MS = 120_000;
/** UUIDv5 namespace (RFC 9562 §5.5): one alert per device and silence, however often the job runs. */
const SILENCES = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a05';
const DAYS_UNLESS_SET = tenantSettings.aggregate.initial.values.staleDeviceDays;

interface Silent {
  readonly tenant_id: string;
  readonly device_id: string;
  readonly user_id: string | null;
  readonly heard_at: string;
  readonly days: number;
}

/** Active, silent for longer than the tenant allows, not muted, and without an alert about this silence. */
const SILENT = `
  select d.tenant_id, d.device_id, d.user_id, to_char(h.heard_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as heard_at, t.days
    from devices d
    cross join lateral (select greatest(d.last_seen_at, d.enrolled_at) as heard_at) h
    cross join lateral (select coalesce((select s.stale_device_days from tenant_settings s where s.tenant_id = d.tenant_id), ${DAYS_UNLESS_SET}) as days) t
   where d.status = 'active' and h.heard_at < now() - t.days * interval '1 day'
     and not (d.stale_alerts_silenced and coalesce(d.stale_alerts_silenced_until > now(), true))
     and not exists (select from alerts a where a.tenant_id = d.tenant_id and a.device_id = d.device_id
                        and a.alert_type = 'device_stale' and a.created_at > h.heard_at)
   limit ${AT_ONCE}`;

const alertAbout = ({ tenant_id, device_id, user_id, heard_at, days }: Silent): RaiseAlert => ({
  alertId: v5(`${tenant_id}|${device_id}|${heard_at}`, SILENCES),
  alertType: 'device_stale',
  title: 'A device has stopped reporting',
  description: `An active device has not reported for more than ${days} days: its browser may be unprotected.`,
  fingerprint: `device_stale|${device_id}`,
  userId: user_id,
  deviceId: device_id,
  domain: null,
  url: null,
  cause: v5(`${device_id}|${heard_at}`, SILENCES),
  metadata: {
    kind: 'silence',
    observedAt: heard_at,
    observationIds: [],
    staleDeviceDays: days,
    extensionMode: null,
    policyVersion: null,
  },
});

/** A silent device sends no event, so this job runs on a schedule (choice OP-098). */
export const staleDeviceAlerting = declareJob({
  name: 'alert-stale-devices',
  data: z.object({}),
  attempts: 5,
  backoff: { firstMs: 5_000, longestMs: 300_000 },
});

export const alertStaleDevices = (projector: pg.Pool, executor: Pick<Executor<CommandPorts>, 'execute'>): AnyJob =>
  defineJob({
    ...staleDeviceAlerting,
    handle: async () => {
      const { rows } = await maintenanceQuery<Silent>(projector, TIME_LIMIT_MS, SILENT);
      for (const silent of rows) {
        const execution = { tenantId: asTenantId(silent.tenant_id), actor: system('stale-device-detection') };
        const raised = await executor.execute(raiseAlert, alertAbout(silent), execution);
        if (isFailure(raised)) throw new JobFailed('raising an alert about a silent device failed');
      }
    },
  });
