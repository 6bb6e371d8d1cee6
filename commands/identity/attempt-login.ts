import { countersFor, judgeAttempt, login, LOGIN_TAIL, loginStream } from '../../src/contexts/identity/domain/login.ts';
import type { AttemptSource } from '../../src/contexts/identity/domain/login-limits.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { forbidden, unauthenticated } from '../../src/platform/kernel/failure.ts';

interface AttemptLogin {
  readonly accountDigest: string;
  readonly subjectId: string | null;
  /**
   * A client that presents a code has proved the password. So it is told about a lock, and no code is checked during
   * the lock.
   */
  readonly factor: 'password' | 'code';
  readonly source: AttemptSource;
}

/**
 * Takes one of the account's attempts before its password or code is checked. Each attempt is an append to the same
 * stream, so simultaneous attempts cannot exceed the limit.
 */
export const attemptLogin = defineCommand({
  name: 'AttemptLogin',
  aggregate: login,
  tail: LOGIN_TAIL,
  stream: ({ accountDigest }: AttemptLogin, { tenantId }) => loginStream(tenantId, accountDigest),
  decide(state, { subjectId, factor, source }, { now }) {
    const countedBy = countersFor(state, source, factor);
    const verdict = judgeAttempt(state, countedBy, now);
    if (factor === 'code' && verdict !== 'open') return forbidden('account_locked');
    if (verdict === 'exhausted') return unauthenticated('invalid_credentials');
    const locked = verdict === 'locked';
    return acceptWith({ locked, attempt: { at: now, countedBy } }, [
      { type: 'LoginAttempted', data: { at: new Date(now).toISOString(), subjectId, locked, countedBy } },
    ]);
  },
});
