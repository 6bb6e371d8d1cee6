import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  MANY_TOKENS,
  whenEnrollmentTokensIssuedRaiseAlert,
} from '../../../src/contexts/alerts/reactions/when-enrollment-tokens-issued-raise-alert.ts';
import { LONG_LIVED_DAYS } from '../../../src/contexts/enrollment/domain/enrollment-token.ts';
import { history } from '../../dsl/given.ts';
import { reactTo } from '../../dsl/reactions.ts';

const DAY_MS = 86_400_000;
const [ANN, BEN] = [randomUUID(), randomUUID()];
const MORNING = Date.UTC(2026, 10, 23, 8);

interface Issue {
  readonly by?: string;
  /** Days after the first. */
  readonly on?: number;
  readonly livesDays?: number;
}

const issued = (count: number, { by = ANN, on = 0, livesDays = 30 }: Issue = {}) =>
  Array.from({ length: count }, () => {
    const recordedAt = MORNING + on * DAY_MS;
    const data = {
      tokenId: randomUUID(),
      tokenDigest: '0'.repeat(64),
      expiresAt: new Date(recordedAt + livesDays * DAY_MS).toISOString(),
      userId: null,
      batchId: null,
    };
    const [event] = history({ type: 'EnrollmentTokenIssued', data });
    return {
      ...event!,
      id: randomUUID(),
      recordedAt,
      metadata: { ...event!.metadata, actor: { kind: 'admin' as const, id: by } },
    };
  });
interface Raised {
  readonly alertId: string;
  readonly title: string;
  readonly fingerprint: string;
  readonly metadata: { readonly change: string };
}
type Happened = ReturnType<typeof history>;
const alerts = (...events: Happened[]) =>
  reactTo(whenEnrollmentTokensIssuedRaiseAlert, events.flat() as never).map(({ input }) => input as Raised);
const changes = (...events: Happened[]) => alerts(...events).map(({ metadata }) => metadata.change);
const titles = (...events: Happened[]) => alerts(...events).map(({ title }) => title);
const resolved = ({ alertId, fingerprint }: Raised): Happened =>
  history({
    type: 'AlertResolved',
    data: { alertId, userId: null, status: 'resolved', resolution: null, fingerprint, was: null, is: null } as never,
  });

const [MANY] = MANY_TOKENS;
const isValid = `valid for more than ${LONG_LIVED_DAYS} days`;

/** OP-592 and OP-598. */
describe('enrollment tokens', () => {
  it('raise no alert if they are few and short-lived', () => {
    expect(changes(issued(MANY - 1))).toEqual([]);
    expect(changes(issued(MANY - 1), issued(MANY - 1, { on: 1 }))).toEqual([]);
    expect(changes(issued(MANY - 1), issued(MANY - 1, { by: BEN }))).toEqual([]);
  });

  it('raise an alert of each issuer and day for every count that is reached, one by one or together', () => {
    expect(changes(issued(MANY))).toEqual(['enrollment_tokens_issued']);
    const counts = (...reached: number[]) => reached.map((n) => `${n} enrollment tokens were issued in a day`);
    expect(titles(issued(3_500))).toEqual(counts(25, 100, 250, 1_000, 2_000, 3_000));
    const byBoth = titles(issued(99), issued(MANY, { by: BEN }), issued(MANY, { on: 1 }));
    expect(byBoth).toEqual(counts(25, 25, 25));
  });

  it('raise an alert if they live long, at the first one and for every count that is reached', () => {
    expect(changes(issued(2, { livesDays: LONG_LIVED_DAYS }))).toEqual([]);
    expect(changes(issued(2, { livesDays: 365 }))).toEqual(['enrollment_token_lasts']);
    const late = titles(issued(2), issued(25, { livesDays: 365 }));
    expect(late).toEqual([
      `An enrollment token was issued that is ${isValid}`,
      `25 enrollment tokens were issued in a day, 23 of them ${isValid}`,
      `25 enrollment tokens that are ${isValid} were issued in a day`,
    ]);
    const reached = [...issued(MANY - 1), ...issued(1, { livesDays: 365 })];
    expect(titles(reached)).toEqual([`25 enrollment tokens were issued in a day, 1 of them ${isValid}`]);
  });

  it('are counted anew once such an alert was closed', () => {
    const first = issued(1, { livesDays: 365 });
    const [alert] = alerts(first);
    const next = issued(1, { livesDays: 365 });
    expect(changes(first, next)).toEqual(['enrollment_token_lasts']);
    expect(changes(first, resolved(alert!), next)).toEqual(Array(2).fill('enrollment_token_lasts'));
    const other = resolved({ ...alert!, fingerprint: 'policy_violation|||account_control|other' });
    expect(changes(first, other, next)).toEqual(['enrollment_token_lasts']);
    const [ofBen] = alerts(issued(1, { by: BEN, livesDays: 365 }));
    expect(changes(first, resolved(ofBen!), next)).toEqual(['enrollment_token_lasts']);
  });
});
