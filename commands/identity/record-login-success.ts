import {
  login,
  LOGIN_TAIL,
  loginStream,
  toRecordedCounters,
  withoutSource,
  type CountedAttempt,
} from '../../src/contexts/identity/domain/login.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface RecordLoginSuccess {
  readonly accountDigest: string;
  readonly subjectId: string;
  /** The successful attempt. */
  readonly attempt: CountedAttempt;
}

/**
 * Records a sign-in with all factors right. Earlier wrong attempts from the same source no longer count; those from
 * elsewhere do.
 */
export const recordLoginSuccess = defineCommand({
  name: 'RecordLoginSuccess',
  aggregate: login,
  tail: LOGIN_TAIL,
  stream: ({ accountDigest }: RecordLoginSuccess, { tenantId }) => loginStream(tenantId, accountDigest),
  decide: (state, { subjectId, attempt }, { now }) =>
    accept([
      {
        type: 'LoginSucceeded',
        data: {
          at: new Date(now).toISOString(),
          subjectId,
          source: attempt.countedBy[0]!,
          standing: toRecordedCounters(withoutSource(state, attempt), now),
        },
      },
    ]),
});
