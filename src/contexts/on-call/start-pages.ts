import { startPage } from '../../../commands/on-call/start-page.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { EscalatingSchedule, NamedPerson, PushAudience } from '../../../queries/notifications/push-audience.ts';
import { openPages } from '../../../queries/on-call/open-pages.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { system } from '../../platform/kernel/actor.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import {
  selectsAlert,
  unwantedBecause,
  type AlertToPush,
  type PushFilters,
} from '../notifications/domain/push-selection.ts';
import { calleesOf, superAdminsOf, waysOf } from './callees.ts';

/**
 * Open pages of a schedule. Further alerts that are not critical are ordinary pushes: a person is being called anyway.
 */
export const MAX_OPEN_PAGES = 20;

export interface StartPagesPorts {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly aggregates: AggregateReader;
  reads(tenantId: TenantId): TenantReads;
}

/** An event of an alert that calls people. */
export interface Call {
  readonly tenantId: TenantId;
  readonly alertId: string;
  readonly eventId: string;
  readonly occurredAt: string;
  readonly alert: AlertToPush;
}

/**
 * Starts a page in each schedule that escalates and that a rule means. Returns the ids of the people who need no
 * ordinary push about the same event: a page calls them, or would if nobody had answered the alert meanwhile.
 */
export async function startPages(
  ports: StartPagesPorts,
  call: Call,
  audience: PushAudience,
  rules: readonly PushFilters[],
): Promise<ReadonlySet<string>> {
  const { executor, aggregates, reads } = ports;
  const { tenantId, alert, alertId, eventId, occurredAt } = call;
  const now = Date.now();
  const people = audience.at(now);
  const matching = rules.filter((rule) => selectsAlert(rule, alert));
  const meant = audience
    .escalatingAt(now)
    .filter(({ scheduleId }) => matching.some((rule) => rule.scheduleId === null || rule.scheduleId === scheduleId))
    .filter((schedule) => isWanted(schedule, audience, people, alert, now));
  if (meant.length === 0) return new Set();
  const open = orThrow(await openPages(reads(tenantId), undefined));
  const ways = await waysOf(aggregates, tenantId);
  // For a critical alert that finds nobody on call, they are notified by e-mail already (OP-470).
  const isTold = alert.severity === 'critical' && audience.gapSince(Date.parse(occurredAt)) !== undefined;
  const superAdmins = isTold ? [] : superAdminsOf(people, ways);
  const called = new Set<string>();
  for (const { scheduleId, escalationMinutes, escalationRounds } of meant) {
    if (alert.severity !== 'critical' && (open.get(scheduleId) ?? 0) >= MAX_OPEN_PAGES) continue;
    const order = calleesOf(audience.orderIn(scheduleId, now), people, ways);
    const escalation = { scheduleId, escalationMinutes, escalationRounds };
    const input = { alertId, eventId, occurredAt, ...escalation, order, superAdmins };
    const { result } = orThrow(await executor.execute(startPage, input, { tenantId, actor: system('paging') }));
    if (result !== undefined) called.add(result);
  }
  return called;
}

/** Preferences hold for the person on call, as for a push, and not for people who are called afterwards. */
function isWanted(
  { scheduleId }: EscalatingSchedule,
  audience: PushAudience,
  people: readonly NamedPerson[],
  alert: AlertToPush,
  now: number,
): boolean {
  const [onCall] = audience.orderIn(scheduleId, now);
  const person = people.find(({ adminId }) => adminId === onCall);
  return !person || unwantedBecause(alert, person.preferences, now) === undefined;
}
