import { recordPasswordReuse } from '../../../../commands/credentials/record-password-reuse.ts';
import { reuseId } from '../domain/identity.ts';
import { loginsIn, type ObservedLogin } from '../domain/observed-login.ts';
import { employeeEvents } from '../../employees/domain/events.ts';
import { telemetryEvents, type TelemetryEvent } from '../../telemetry/domain/events.ts';
import type { Envelope } from '../../../platform/kernel/event.ts';
import { id, json, text, type RowOf } from '../../../platform/kernel/read-model.ts';
import { defineReaction, effect, type Effect, type StatefulStep } from '../../../platform/kernel/reaction.ts';
import { ordinaryDays, refilled, spent, type Bucket } from '../../../platform/kernel/token-bucket.ts';

type TelemetryRecorded = Extract<TelemetryEvent, { type: 'TelemetryRecorded' }> & Envelope;

/** More sites are not stored: the password is reused anyway, and the row must stay small. */
const MAX_SITES = 100;

/** Reuses found per person on an ordinary day. */
const REUSES = ordinaryDays(50);
/** Row key of a person's remaining budget. No password digest has this form. */
const BUDGET = 'budget';

const columns = { user_id: id, password_hash: text, sites: json<readonly string[] | Bucket>() };
type Step = StatefulStep<RowOf<typeof columns>, 'user_id' | 'password_hash'>;

/**
 * Stores on which sites a person's password was entered, and reports its use on another site. Reuses beyond the
 * person's budget (by arrival time) are not stored; they are found when the password is next entered there.
 */
export const whenTelemetryRecordedDetectReuse = defineReaction({
  name: 'password-reuse-detection',
  lane: 'telemetry',
  families: [telemetryEvents, employeeEvents],
  state: { columns, key: ['user_id', 'password_hash'] },
  on: {
    TelemetryRecorded: (event) => {
      const logins = loginsIn(event.data.observations);
      return logins.length === 0 ? [] : reuseSteps(event, logins);
    },
    EmployeeDeleted: ({ data: { userId } }) => [{ purge: { user_id: userId } }],
    EmployeeErased: ({ data: { userId } }) => [{ purge: { user_id: userId } }],
  },
});

/** Steps run in order: the first reads the budget, the last stores what remains of it. */
function reuseSteps(event: TelemetryRecorded, logins: readonly ObservedLogin[]): Step[] {
  const { userId } = event.data;
  const key = { user_id: userId, password_hash: BUDGET };
  let budget: Bucket = refilled(undefined, REUSES, event.recordedAt);
  let isSpent = false;
  const begin: Step = {
    key,
    react: (row) => {
      budget = refilled(row && !isList(row.sites) ? row.sites : undefined, REUSES, event.recordedAt);
      isSpent = false;
      return { row, effects: [] };
    },
  };
  const mayFind = () => {
    const after = spent(budget);
    if (!after) return false;
    budget = after;
    isSpent = true;
    return true;
  };
  const end: Step = { key, react: (row) => ({ row: isSpent ? { ...key, sites: budget } : row, effects: [] }) };
  return [begin, ...logins.map((login) => loginStep(event, login, mayFind)), end];
}

const isList = (sites: readonly string[] | Bucket): sites is readonly string[] => Array.isArray(sites);

function loginStep(event: TelemetryRecorded, login: ObservedLogin, mayFind: () => boolean): Step {
  const key = { user_id: event.data.userId, password_hash: login.passwordHash };
  return {
    key,
    react: (row) => {
      const sites = row && isList(row.sites) ? row.sites : [];
      if (row && (sites.includes(login.site) || sites.length >= MAX_SITES || !mayFind())) return { row, effects: [] };
      return { row: { ...key, sites: [...sites, login.site] }, effects: row ? [reuse(event, login, sites)] : [] };
    },
  };
}

function reuse(
  { tenantId, data }: TelemetryRecorded,
  { observation, site, passwordHash }: ObservedLogin,
  known: readonly string[],
): Effect {
  const { userId, deviceId, extensionMode, policyVersion } = data;
  return effect(recordPasswordReuse, {
    reuseId: reuseId(tenantId, userId, passwordHash),
    userId,
    deviceId,
    domain: site,
    domains: [...known, site],
    cause: observation.eventId,
    occurredAt: observation.occurredAt,
    extensionMode,
    policyVersion,
  });
}
