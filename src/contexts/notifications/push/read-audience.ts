import { pushAudience, type PushAudience } from '../../../../queries/notifications/push-audience.ts';
import { JobFailed } from '../../../platform/jobs/job.ts';
import type { AggregateReader } from '../../../platform/kernel/aggregate.ts';
import type { Position } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { TenantReads } from '../../../platform/kernel/query.ts';
import type { Freshness } from '../../../platform/projector/freshness.ts';
import type { ShiftCalendars } from '../../on-call/domain/shift-calendars.ts';
import { mobileAccess, mobileAccessStream } from '../../settings/domain/mobile-access.ts';
import { pushRules } from '../domain/push-rule.resource.ts';

export interface AudiencePorts {
  readonly aggregates: AggregateReader;
  readonly freshness: Pick<Freshness, 'waitFor'>;
  readonly calendars: ShiftCalendars;
  reads(tenantId: TenantId): TenantReads;
  head(): Promise<Position>;
}

const MODELS = [
  'admin_availability',
  'admin_users',
  'group_members',
  'mobile_devices',
  'mobile_preferences',
  'on_call_overrides',
  'on_call_pages',
  'on_call_schedules',
  'on_call_versions',
  pushRules.model.name,
] as const;
const FRESH_WITHIN_MS = 15_000;

/**
 * Whom pushes and pages may reach in an interval (epoch milliseconds). Schedules, devices and rules are listed by read
 * models: waits until they have everything that is in the log now. Throws `JobFailed` if that takes too long.
 */
export async function readAudience(
  { aggregates, freshness, calendars, reads, head }: AudiencePorts,
  tenantId: TenantId,
  interval: { readonly from: number; readonly to: number },
): Promise<PushAudience> {
  if (!(await freshness.waitFor(MODELS, await head(), FRESH_WITHIN_MS)))
    throw new JobFailed('the read models are behind');
  const byRole = await aggregates.load(mobileAccess, mobileAccessStream(tenantId));
  return pushAudience(reads(tenantId), { ...interval, calendars, byRole });
}
