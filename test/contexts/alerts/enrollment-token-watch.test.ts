import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  LONG_LIVED_DAYS,
  MANY_TOKENS,
  whenEnrollmentTokensIssuedRaiseAlert,
} from '../../../src/contexts/alerts/reactions/when-enrollment-tokens-issued-raise-alert.ts';
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
const changes = (...events: ReturnType<typeof issued>[]) =>
  reactTo(whenEnrollmentTokensIssuedRaiseAlert, events.flat() as never).map(
    ({ input }) => (input as { metadata: { change: string } }).metadata.change,
  );

/** OP-592. */
describe('enrollment tokens', () => {
  it('raise no alert if they are few and short-lived', () => {
    expect(changes(issued(MANY_TOKENS - 1))).toEqual([]);
    expect(changes(issued(MANY_TOKENS - 1), issued(MANY_TOKENS - 1, { on: 1 }))).toEqual([]);
    expect(changes(issued(MANY_TOKENS - 1), issued(MANY_TOKENS - 1, { by: BEN }))).toEqual([]);
  });

  it('raise one alert an issuer and day if they are many, one by one or together', () => {
    expect(changes(issued(MANY_TOKENS))).toEqual(['enrollment_tokens_issued']);
    expect(changes(issued(1_000))).toEqual(['enrollment_tokens_issued']);
    const byBoth = changes(issued(1_000), issued(MANY_TOKENS, { by: BEN }), issued(MANY_TOKENS, { on: 1 }));
    expect(byBoth).toEqual(Array(3).fill('enrollment_tokens_issued'));
  });

  it('raise one alert an issuer and day if they live long', () => {
    expect(changes(issued(2, { livesDays: LONG_LIVED_DAYS }))).toEqual([]);
    expect(changes(issued(2, { livesDays: 365 }))).toEqual(['enrollment_token_lasts']);
    expect(changes(issued(MANY_TOKENS, { livesDays: 365 }))).toEqual([
      'enrollment_token_lasts',
      'enrollment_tokens_issued',
    ]);
    const reached = [...issued(MANY_TOKENS - 1), ...issued(1, { livesDays: 365 })];
    expect(changes(reached)).toEqual(['enrollment_tokens_issued']);
  });
});
