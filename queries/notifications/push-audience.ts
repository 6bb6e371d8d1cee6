import type { AdminUserRow } from '../../projections/admins/admin-users.ts';
import type { MobilePreferencesRow } from '../../projections/mobile/mobile-preferences.ts';
import type { OnCallScheduleRow } from '../../projections/on-call/on-call-schedules.ts';
import { mayUseMobile } from '../../src/contexts/mobile/domain/mobile-eligibility.ts';
import { DEFAULT_PREFERENCES } from '../../src/contexts/mobile/domain/preferences.ts';
import type { PushPerson } from '../../src/contexts/notifications/domain/push-selection.ts';
import type { AdminRole } from '../../src/contexts/identity/domain/roles.ts';
import type { Span } from '../../src/contexts/on-call/domain/schedule-resolver.ts';
import { availabilityAt } from '../../src/contexts/on-call/domain/reachability.ts';
import type { ShiftCalendars } from '../../src/contexts/on-call/domain/shift-calendars.ts';
import type { MobileAccess } from '../../src/contexts/settings/domain/mobile-access.ts';
import type { TenantReads } from '../../src/platform/kernel/query.ts';
import { peopleOnCall, schedulesInTime, type ScheduleInTime } from '../on-call/schedules-in-time.ts';

export interface AudienceInterval {
  /** Epoch milliseconds, both included. */
  readonly from: number;
  readonly to: number;
  readonly calendars: ShiftCalendars;
  /** Which roles may use the mobile app. */
  readonly byRole: MobileAccess;
}

/** An administrator with the names that a list shows. */
export interface NamedPerson extends PushPerson {
  readonly email: string;
  readonly displayName: string;
  readonly role: AdminRole;
  readonly isActive: boolean;
}

export interface PushAudience {
  /** Every administrator of the tenant, with the schedules that they were on call in at a moment of the interval. */
  at(moment: number): readonly NamedPerson[];
  /**
   * Since when (epoch milliseconds) no schedule has had anybody on call who can be reached. Undefined: somebody is, or
   * no schedule is in use.
   */
  gapSince(moment: number): number | undefined;
  /** The schedules in which somebody has the shift at a moment, and that escalate pages. */
  escalatingAt(moment: number): readonly EscalatingSchedule[];
  /** Ids of everybody whose turn it may be in a schedule at a moment. Empty if nobody has the shift. */
  orderIn(scheduleId: string, moment: number): readonly string[];
}

export interface EscalatingSchedule {
  readonly scheduleId: string;
  readonly escalationMinutes: number;
  readonly escalationRounds: number;
}

type AccountRow = Pick<AdminUserRow, 'admin_id' | 'email' | 'display_name' | 'role_type' | 'status' | 'mobile_access'> &
  Pick<MobilePreferencesRow, 'preferences'> & { readonly device_ids: readonly string[] };

const ACCOUNTS = `
  select u.admin_id, u.email, u.display_name, u.role_type, u.status, u.mobile_access, p.preferences,
         array(select d.device_id from mobile_devices d
                where d.tenant_id = u.tenant_id and d.admin_id = u.admin_id
                order by d.created_at, d.device_id)::text[] as device_ids
    from admin_users u
    left join mobile_preferences p on p.tenant_id = u.tenant_id and p.admin_id = u.admin_id
   where u.tenant_id = $1
   order by u.admin_id`;
const SCHEDULES = 'select schedule_id, content from on_call_schedules where tenant_id = $1';

/**
 * Whom pushes may reach. Schedules and overrides count as they were at a moment; accounts, preferences and devices as
 * they are now.
 */
export async function pushAudience(
  reads: TenantReads,
  { from, to, calendars, byRole }: AudienceInterval,
): Promise<PushAudience> {
  const [accounts, current, schedules] = await Promise.all([
    reads.rows<AccountRow>(ACCOUNTS),
    reads.rows<Pick<OnCallScheduleRow, 'schedule_id' | 'content'>>(SCHEDULES),
    schedulesInTime(reads, { from, to, scheduleId: undefined, calendars }),
  ]);
  const { availability } = await peopleOnCall(
    reads,
    accounts.map(({ admin_id: id }) => id),
  );
  const people = accounts.map((row) => personOf(row, current, byRole));
  const isReachable = (adminId: string, moment: number) => availabilityAt(availability, adminId, moment) === 'active';
  return {
    at: (moment) => {
      const onCall = shiftsAt(schedules, moment);
      return people.map((person) => ({
        ...person,
        onCallIn: (isReachable(person.adminId, moment) ? onCall.get(person.adminId) : undefined) ?? NO_SCHEDULES,
      }));
    },
    gapSince: (moment) => {
      const spans = schedules.map(({ resolver }) => resolver.at(moment)).filter(isInUse);
      const isCovered = spans.some((span) => span.kind === 'shift' && isReachable(span.adminUserId, moment));
      return isCovered || spans.length === 0 ? undefined : Math.max(...spans.map(({ startsAt }) => startsAt));
    },
    escalatingAt: (moment) => schedules.flatMap((schedule) => escalationOf(schedule, moment)),
    orderIn: (scheduleId, moment) =>
      schedules.find((schedule) => schedule.scheduleId === scheduleId)?.resolver.orderAt(moment) ?? [],
  };
}

function escalationOf({ scheduleId, resolver }: ScheduleInTime, moment: number): EscalatingSchedule[] {
  const { escalationMinutes = null, escalationRounds = 1 } = resolver.contentAt(moment) ?? {};
  const isStaffed = resolver.at(moment).kind === 'shift';
  return escalationMinutes === null || !isStaffed ? [] : [{ scheduleId, escalationMinutes, escalationRounds }];
}

/** A schedule that was deleted or switched off leaves no gap. */
const isInUse = (span: Span): boolean => span.kind === 'shift' || span.reason === 'not_started';

const NO_SCHEDULES: ReadonlySet<string> = new Set();

function personOf(
  row: AccountRow,
  schedules: readonly Pick<OnCallScheduleRow, 'schedule_id' | 'content'>[],
  byRole: MobileAccess,
): NamedPerson {
  const { admin_id: adminId, role_type: role, status, mobile_access: mobileAccess } = row;
  return {
    adminId,
    email: row.email,
    displayName: row.display_name,
    role,
    isActive: status === 'active',
    mayUseMobile: mayUseMobile({ role, status, mobileAccess }, byRole),
    preferences: row.preferences ?? DEFAULT_PREFERENCES,
    deviceIds: row.device_ids,
    onCallIn: NO_SCHEDULES,
    takesPartIn: new Set(
      schedules.flatMap(({ schedule_id: id, content }) => (content.participants.includes(adminId) ? [id] : [])),
    ),
  };
}

/** By administrator: the schedules that they have the shift of. */
function shiftsAt(schedules: readonly ScheduleInTime[], moment: number): ReadonlyMap<string, ReadonlySet<string>> {
  const byPerson = new Map<string, Set<string>>();
  for (const { scheduleId, resolver } of schedules) {
    const span = resolver.at(moment);
    if (span.kind !== 'shift') continue;
    const held = byPerson.get(span.adminUserId) ?? new Set();
    byPerson.set(span.adminUserId, held.add(scheduleId));
  }
  return byPerson;
}
