import { z } from 'zod';
import type { PolicyHistoryRow } from '../../projections/dashboard/policy-history.ts';
import type { Query, TenantReads } from '../../src/platform/kernel/query.ts';
import { IS_STALE } from '../devices/device-view.ts';
import { policyVersion, policyVersionText } from '../policies/policy-version.ts';
import { eachDay, type DayRange } from './days.ts';

const rate = z.number();

/** Choice OP-245. `rate`: 0..1. */
export const policyDeploymentView = z.object({
  policyVersion: z.string(),
  /** Active devices that report. */
  totalDevices: z.int(),
  /** Active devices that have stopped reporting. They count nowhere else. */
  staleDevices: z.int(),
  upToDate: z.int(),
  outdated: z.int(),
  rate,
  policies: z.array(z.object({ policyId: z.uuid(), name: z.string(), deployed: z.int(), total: z.int() })),
});
export type PolicyDeployment = z.output<typeof policyDeploymentView>;

/** Choice OP-244. */
export const deploymentPointView = z.object({ date: z.iso.date(), upToDate: z.int(), outdated: z.int(), rate });
export type DeploymentPoint = z.output<typeof deploymentPointView>;

const HISTORY = 'select * from policy_history where tenant_id = $1';
const DEVICES = `
  select policy_version, ${IS_STALE} as is_stale, count(*)::int as count
    from devices d where d.tenant_id = $1 and d.status = 'active' group by 1, 2`;
const POLICIES = `select policy_id, name, group_ids from policies where tenant_id = $1 and is_enabled order by priority, created_at, policy_id`;
/** For policies with groups: the devices of their members, each counted once. */
const DEVICES_OF_GROUPS = `
  select t.policy_id, t.policy_version, count(*)::int as count from (
    select distinct p.policy_id, d.device_id, d.policy_version
      from policies p cross join lateral jsonb_array_elements_text(p.group_ids) g (group_id)
      join group_members m on m.tenant_id = $1 and m.group_id = g.group_id::uuid
      join devices d on d.tenant_id = $1 and d.user_id = m.user_id and d.status = 'active' and not (${IS_STALE})
     where p.tenant_id = $1 and p.is_enabled) t
   group by 1, 2`;
const BY_DAY = `
  select day, policy_version, count(*)::int as count from device_policy_daily
   where tenant_id = $1 and day between $2::date and $3::date group by 1, 2`;

interface Fleet {
  readonly policy_version: string | null;
  readonly count: number;
}

const sum = (groups: readonly Fleet[], chosen: (group: Fleet) => boolean = () => true) =>
  groups.filter(chosen).reduce((total, { count }) => total + count, 0);
const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
const history = (reads: TenantReads) => reads.one<PolicyHistoryRow>(HISTORY);

/**
 * How many active devices use the current policies, as the devices report. A policy counts as deployed on a device that
 * it applies to and that uses its current version.
 */
export const policyDeployment: Query<void, PolicyDeployment> = async (reads) => {
  const [current, devices, known, policies, ofGroups] = await Promise.all([
    policyVersion(reads, undefined),
    reads.rows<Fleet & { is_stale: boolean }>(DEVICES),
    history(reads),
    reads.rows<{ policy_id: string; name: string; group_ids: readonly string[] }>(POLICIES),
    reads.rows<Fleet & { policy_id: string }>(DEVICES_OF_GROUPS),
  ]);
  const version = current as string;
  const fleet = devices.filter(({ is_stale }) => !is_stale);
  const total = sum(fleet);
  const upToDate = sum(fleet, ({ policy_version }) => policy_version === version);
  const changedWith = new Map(known?.policies);
  const deployment = (policyId: string, concerned: readonly Fleet[]) => {
    const changed = changedWith.get(policyId) ?? Infinity;
    const works = ({ policy_version }: Fleet) =>
      changesOf(policy_version) >= changed && changesOf(policy_version) <= known!.changes;
    return { deployed: sum(concerned, works), total: sum(concerned) };
  };
  return {
    policyVersion: version,
    totalDevices: total,
    staleDevices: sum(devices) - total,
    upToDate,
    outdated: total - upToDate,
    rate: share(upToDate, total),
    policies: policies.map(({ policy_id: policyId, name, group_ids: groupIds }) => ({
      policyId,
      name,
      ...deployment(
        policyId,
        groupIds.length === 0 ? fleet : ofGroups.filter(({ policy_id }) => policy_id === policyId),
      ),
    })),
  };
};

/** The change number in a device's reported version, or -1 if the version does not have the current format. */
function changesOf(version: string | null): number {
  const changes = Number(version?.split('.')[1] ?? Number.NaN);
  return version === policyVersionText(changes) ? changes : -1;
}

/** For each day, how many of the devices with a heartbeat used the day's last version. */
export const policyDeploymentTrend: Query<DayRange, { timezone: string; trend: DeploymentPoint[] }> = async (
  reads,
  days,
) => {
  const [groups, known] = await Promise.all([
    reads.rows<Fleet & { day: string }>(BY_DAY, [days.from, days.to]),
    history(reads),
  ]);
  const point = (date: string): DeploymentPoint => {
    const heard = groups.filter(({ day }) => day === date);
    const version = policyVersionText(known?.days.findLast(([day]) => day <= date)?.[1] ?? 0);
    const upToDate = sum(heard, ({ policy_version }) => policy_version === version);
    const total = sum(heard);
    return { date, upToDate, outdated: total - upToDate, rate: share(upToDate, total) };
  };
  return { timezone: 'UTC', trend: eachDay(days).map(point) };
};
