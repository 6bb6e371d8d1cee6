import { isLongLived, LONG_LIVED_DAYS } from '../../enrollment/domain/enrollment-token.ts';
import { enrollmentEvents, type EnrollmentEvent } from '../../enrollment/domain/events.ts';
import { tenantEvents } from '../../tenants/domain/events.ts';
import type { RecordedEvent } from '../../../platform/kernel/event.ts';
import { defineReaction, type Effect } from '../../../platform/kernel/reaction.ts';
import { at, id, integer, text } from '../../../platform/kernel/read-model.ts';
import { alertEvents } from '../domain/events.ts';
import { accountControlAlert } from './account-control-alert.ts';

/** How many tokens of one issuer and UTC day raise an alert (decisions 0151 and 0162). From the last on: its multiples. */
export const MANY_TOKENS = [25, 100, 250, 1_000] as const;
const STEP = 1_000;

const ENROLLS = 'This decides which browsers enroll as those of your organization.';
/** Fingerprints of these alerts begin so, and go on with the issuer and the event. */
const FINGERPRINT = 'policy_violation|||enrollment_tokens|';

type TokenIssued = Extract<EnrollmentEvent, { type: 'EnrollmentTokenIssued' }>;

interface Day {
  readonly day: string;
  readonly issued: number;
  readonly long_lived: number;
}

const isMilestone = (count: number): boolean =>
  MANY_TOKENS.some((many) => many === count) || (count > 0 && count % STEP === 0);

const LASTING = `valid for more than ${LONG_LIVED_DAYS} days`;
const titleOfMany = ({ issued, long_lived }: Day): string =>
  `${issued} enrollment tokens were issued in a day${long_lived > 0 ? `, ${long_lived} of them ${LASTING}` : ''}`;
const titleOfLasting = ({ long_lived }: Day): string =>
  long_lived === 1
    ? `An enrollment token was issued that is ${LASTING}`
    : `${long_lived} enrollment tokens that are ${LASTING} were issued in a day`;

/** An alert for each count that is reached. */
function alertsOf(event: RecordedEvent<TokenIssued>, before: Day, now: Day): readonly Effect[] {
  const isMany = isMilestone(now.issued);
  const isLasting = now.long_lived > before.long_lived && (now.long_lived === 1 || isMilestone(now.long_lived));
  if (!isMany && !isLasting) return [];
  return accountControlAlert(event, {
    change: isMany ? 'enrollment_tokens_issued' : 'enrollment_token_lasts',
    title: isMany ? titleOfMany(now) : titleOfLasting(now),
    isSevere: true,
    about: { tokenId: event.data.tokenId, validUntil: event.data.expiresAt },
    decides: ENROLLS,
    fingerprint: `${FINGERPRINT}${event.metadata.actor.id}|${event.id}`,
  }).flatMap(({ effects }) => effects);
}

/** Whose tokens an alert was about; undefined for other alerts. */
const issuerOf = (fingerprint: string): string | undefined =>
  fingerprint.startsWith(FINGERPRINT) ? fingerprint.slice(FINGERPRINT.length).split('|')[0] : undefined;

/**
 * Raises an alert when somebody issues many enrollment tokens in a day, in one request or one by one, or one that lives
 * long. Whoever has stolen a session could otherwise enroll browsers for a year, unnoticed (OP-592).
 *
 * Once such an alert is closed, counting begins anew: what follows was not looked at by whoever closed it.
 */
export const whenEnrollmentTokensIssuedRaiseAlert = defineReaction({
  name: 'enrollment-token-watch',
  version: 2,
  lane: 'main',
  families: [enrollmentEvents, tenantEvents, alertEvents],
  state: { columns: { issuer: id, day: text, issued: integer, long_lived: integer }, key: ['issuer'] },
  on: {
    EnrollmentTokenIssued: (event) => {
      const { id: issuer } = event.metadata.actor;
      if (issuer === null) return [];
      const day = at(event).slice(0, 10);
      const lasts = isLongLived(event.data.expiresAt, event.recordedAt);
      return [
        {
          key: { issuer },
          react: (row) => {
            const before = row?.day === day ? row : { day, issued: 0, long_lived: 0 };
            const now = { day, issued: before.issued + 1, long_lived: before.long_lived + (lasts ? 1 : 0) };
            return { row: { issuer, ...now }, effects: alertsOf(event, before, now) };
          },
        },
      ];
    },
    AlertResolved: ({ data: { fingerprint } }) => {
      const issuer = issuerOf(fingerprint);
      return issuer === undefined ? [] : [{ purge: { issuer } }];
    },
    AdminUserDeleted: ({ data: { adminId } }) => [{ purge: { issuer: adminId } }],
  },
});
