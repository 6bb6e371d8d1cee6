import { enrollmentEvents, type EnrollmentEvent } from '../../enrollment/domain/events.ts';
import { tenantEvents } from '../../tenants/domain/events.ts';
import type { RecordedEvent } from '../../../platform/kernel/event.ts';
import { defineReaction, type Effect } from '../../../platform/kernel/reaction.ts';
import { at, id, integer, text } from '../../../platform/kernel/read-model.ts';
import { accountControlAlert } from './account-control-alert.ts';

/** Tokens of one issuer and UTC day that raise an alert: more than somebody issues by hand (decision 0151). */
export const MANY_TOKENS = 25;
/** A token that lives longer than the default of 30 days is good for an attacker who comes back. */
export const LONG_LIVED_DAYS = 31;
const DAY_MS = 86_400_000;

const ENROLLS = 'This decides which browsers enroll as those of your organization.';

type TokenIssued = Extract<EnrollmentEvent, { type: 'EnrollmentTokenIssued' }>;

interface Day {
  readonly day: string;
  readonly issued: number;
  readonly long_lived: number;
}

/** One alert for each kind, issuer and day, at the token that reaches the threshold. */
function alertsOf(event: RecordedEvent<TokenIssued>, before: Day, now: Day): readonly Effect[] {
  const isMany = before.issued < MANY_TOKENS && now.issued >= MANY_TOKENS;
  const isFirstLongLived = before.long_lived === 0 && now.long_lived > 0;
  if (!isMany && !isFirstLongLived) return [];
  const lasting = now.long_lived > 0 ? ', valid for a long time' : '';
  return accountControlAlert(event, {
    change: isMany ? 'enrollment_tokens_issued' : 'enrollment_token_lasts',
    title: isMany ? `Many enrollment tokens were issued${lasting}` : `An enrollment token was issued${lasting}`,
    isSevere: true,
    about: { tokenId: event.data.tokenId, validUntil: event.data.expiresAt },
    decides: ENROLLS,
  }).flatMap(({ effects }) => effects);
}

/**
 * Raises an alert when somebody issues many enrollment tokens in a day, in one request or one by one, or one that lives
 * long. Whoever has stolen a session could otherwise enroll browsers for a year, unnoticed (OP-592).
 */
export const whenEnrollmentTokensIssuedRaiseAlert = defineReaction({
  name: 'enrollment-token-watch',
  lane: 'main',
  families: [enrollmentEvents, tenantEvents],
  state: { columns: { issuer: id, day: text, issued: integer, long_lived: integer }, key: ['issuer'] },
  on: {
    EnrollmentTokenIssued: (event) => {
      const { id: issuer } = event.metadata.actor;
      if (issuer === null) return [];
      const day = at(event).slice(0, 10);
      const isLongLived = Date.parse(event.data.expiresAt) - event.recordedAt > LONG_LIVED_DAYS * DAY_MS;
      return [
        {
          key: { issuer },
          react: (row) => {
            const before = row?.day === day ? row : { day, issued: 0, long_lived: 0 };
            const now = { day, issued: before.issued + 1, long_lived: before.long_lived + (isLongLived ? 1 : 0) };
            return { row: { issuer, ...now }, effects: alertsOf(event, before, now) };
          },
        },
      ];
    },
    AdminUserDeleted: ({ data: { adminId } }) => [{ purge: { issuer: adminId } }],
  },
});
