import { HAS_LIVE_DEVICE } from '../enrollment/list-enrollment-tokens.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import type { DeviceStatus } from '../../src/contexts/devices/domain/vocabulary.ts';
import { SELECT_DEVICES } from './device-view.ts';

type Counters = Readonly<Record<string, number>>;

export interface FleetHealth {
  readonly totalDevices: number;
  readonly activeDevices: number;
  readonly staleDevices: number;
  /** Revoked or wiped. */
  readonly revokedDevices: number;
  readonly enrollment: {
    readonly enrolledUsers: number;
    readonly totalUsers: number;
    /** 0..1 */
    readonly rate: number;
    readonly pendingTokens: number;
  };
  /** Devices that are neither revoked nor wiped; `unknown` if an agent did not report it. */
  readonly byBrowser: Counters;
  readonly byOs: Counters;
  readonly byExtensionVersion: Counters;
}

interface Group {
  readonly status_now: DeviceStatus;
  readonly browser: string;
  readonly os: string;
  readonly extension_version: string;
  readonly count: number;
}

const GROUPS = `
  select status_now, coalesce(browser_type, 'unknown') as browser, coalesce(os_type, 'unknown') as os,
         coalesce(extension_version, 'unknown') as extension_version, count(*)::int as count
    from ${SELECT_DEVICES} d
   where d.tenant_id = $1
   group by 1, 2, 3, 4
   order by 2, 3, 4`;

const ENROLLMENT = `
  select (select count(*)::int from employees where tenant_id = $1) as total,
         (select count(*)::int from employees where tenant_id = $1 and has_enrolled) as enrolled,
         (select count(*)::int from enrollment_tokens t where t.tenant_id = $1 and t.used_at is null and t.revoked_at is null and t.expires_at > now() and ${HAS_LIVE_DEVICE}) as pending`;

const isCutOff = ({ status_now: status }: Group) => status === 'revoked' || status === 'wiped';

/** Choice OP-104. */
export const fleetHealth: Query<void, FleetHealth> = async (reads) => {
  const [groups, users] = await Promise.all([
    reads.rows<Group>(GROUPS),
    reads.figures<{ total: number; enrolled: number; pending: number }>(ENROLLMENT),
  ]);
  const sum = (chosen: readonly Group[]) => chosen.reduce((total, { count }) => total + count, 0);
  const living = groups.filter((group) => !isCutOff(group));
  const counted = (by: 'browser' | 'os' | 'extension_version') => {
    const counters: Record<string, number> = {};
    for (const group of living) counters[group[by]] = (counters[group[by]] ?? 0) + group.count;
    return counters;
  };
  const { total = 0, enrolled = 0, pending = 0 } = users ?? {};
  return {
    totalDevices: sum(groups),
    activeDevices: sum(groups.filter(({ status_now }) => status_now === 'active')),
    staleDevices: sum(groups.filter(({ status_now }) => status_now === 'stale')),
    revokedDevices: sum(groups.filter(isCutOff)),
    enrollment: {
      enrolledUsers: enrolled,
      totalUsers: total,
      rate: total === 0 ? 0 : enrolled / total,
      pendingTokens: pending,
    },
    byBrowser: counted('browser'),
    byOs: counted('os'),
    byExtensionVersion: counted('extension_version'),
  };
};
