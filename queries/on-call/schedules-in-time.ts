import type { AdminAvailabilityRow } from '../../projections/admins/admin-availability.ts';
import type { AdminUserRow } from '../../projections/admins/admin-users.ts';
import type { OnCallOverrideRow } from '../../projections/on-call/on-call-overrides.ts';
import type { OnCallVersionRow } from '../../projections/on-call/on-call-versions.ts';
import type { AvailabilityChange } from '../../src/contexts/on-call/domain/reachability.ts';
import { MAX_ROTATION_DAYS } from '../../src/contexts/on-call/domain/schedule-content.ts';
import { lastBegun, periodsOf, type ScheduleVersion } from '../../src/contexts/on-call/domain/schedule-history.ts';
import { ScheduleResolver } from '../../src/contexts/on-call/domain/schedule-resolver.ts';
import type { ShiftCalendars } from '../../src/contexts/on-call/domain/shift-calendars.ts';
import { grouped } from './grouped.ts';
import type { TenantReads } from '../../src/platform/kernel/query.ts';

/** An interval of time, in epoch milliseconds, both ends included. */
export interface ScheduleInterval {
  readonly from: number;
  readonly to: number;
  /** Undefined: all schedules. */
  readonly scheduleId: string | undefined;
  readonly calendars: ShiftCalendars;
}

export interface ScheduleInTime {
  readonly scheduleId: string;
  readonly resolver: ScheduleResolver;
  /** What the schedule was called at a moment. */
  nameAt(moment: number): string;
}

const DAY_MS = 86_400_000;
/** Versions beside the interval that may belong to its first and last shifts: changes that left them as they were. */
const NEIGHBOURS = 10;

const VERSIONS = `
  with held as (
    select schedule_id, min(version) - ${NEIGHBOURS} as first, max(version) + ${NEIGHBOURS} as last
      from on_call_versions
     where tenant_id = $1 and ($2::uuid is null or schedule_id = $2)
       and effective_at <= $4 and (ended_at is null or ended_at > $3)
     group by schedule_id)
  select v.* from held h
    join on_call_versions v on v.tenant_id = $1 and v.schedule_id = h.schedule_id and v.version between h.first and h.last
   order by v.schedule_id, v.version`;
/** Also those that cut the first and the last shift. */
const OVERRIDES = `
  select * from on_call_overrides
   where tenant_id = $1 and ($2::uuid is null or schedule_id = $2) and ends_at > $3 and starts_at < $4
     and greatest(starts_at, created_at) < least(ends_at, removed_at)`;

/** The schedules that existed in an interval, as they were then. */
export async function schedulesInTime(
  reads: TenantReads,
  { from, to, scheduleId, calendars }: ScheduleInterval,
): Promise<ScheduleInTime[]> {
  const margin = (MAX_ROTATION_DAYS + 1) * DAY_MS;
  const [versions, overrides] = await Promise.all([
    reads.rows<OnCallVersionRow>(VERSIONS, [scheduleId ?? null, iso(from), iso(to)]),
    reads.rows<OnCallOverrideRow>(OVERRIDES, [scheduleId ?? null, iso(Math.max(0, from - margin)), iso(to + margin)]),
  ]);
  const overridesOf = grouped(overrides, ({ schedule_id: id }) => id);
  return [...grouped(versions, ({ schedule_id: id }) => id)].map(([id, rows]) => {
    const held = versionsOf(rows);
    const history = { versions: held, overrides: periodsOf((overridesOf.get(id) ?? []).map(decidedOf)) };
    return {
      scheduleId: id,
      resolver: new ScheduleResolver(history, calendars),
      nameAt: (moment) => (held[lastBegun(held, moment)]?.content ?? rows.at(-1)!.content).name,
    };
  });
}

const iso = (moment: number): string => new Date(moment).toISOString();

function versionsOf(rows: readonly OnCallVersionRow[]): ScheduleVersion[] {
  const versions: ScheduleVersion[] = rows.map(({ effective_at: at, content }) => ({ from: Date.parse(at), content }));
  const endedAt = rows.at(-1)!.ended_at;
  return endedAt === null ? versions : [...versions, { from: Date.parse(endedAt), content: null }];
}

const decidedOf = (row: OnCallOverrideRow) => ({
  adminUserId: row.admin_user_id,
  startsAt: Date.parse(row.starts_at),
  endsAt: Date.parse(row.ends_at),
  createdAt: Date.parse(row.created_at),
  removedAt: row.removed_at === null ? null : Date.parse(row.removed_at),
});

/** Null for an account that was deleted since. */
export interface PersonOnCall {
  readonly email: string | null;
  readonly displayName: string | null;
}

export interface People {
  readonly availability: ReadonlyMap<string, readonly AvailabilityChange[]>;
  personOf(adminUserId: string): PersonOnCall;
}

const NAMES =
  'select admin_id, email, display_name from admin_users where tenant_id = $1 and admin_id = any($2::uuid[])';
const AVAILABILITY = `
  select admin_id, since, availability from admin_availability where tenant_id = $1 and admin_id = any($2::uuid[])
   order by admin_id, since`;

export async function peopleOnCall(reads: TenantReads, adminUserIds: Iterable<string>): Promise<People> {
  const ids = [...new Set(adminUserIds)];
  const [names, rows] = await Promise.all([
    reads.rows<AdminUserRow>(NAMES, [ids]),
    reads.rows<AdminAvailabilityRow>(AVAILABILITY, [ids]),
  ]);
  const named = new Map(
    names.map(({ admin_id: id, email, display_name: displayName }) => [id, { email, displayName }]),
  );
  const changes = rows.map(({ admin_id: id, since, availability }) => ({
    id,
    from: Date.parse(since),
    availability,
  }));
  return {
    availability: grouped(changes, ({ id }) => id),
    personOf: (id) => named.get(id) ?? { email: null, displayName: null },
  };
}
