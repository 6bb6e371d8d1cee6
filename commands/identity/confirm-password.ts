import type { PasswordConfirmed } from '../../src/contexts/identity/domain/login-events.ts';
import {
  login,
  LOGIN_TAIL,
  loginStream,
  toRecordedCounters,
  withoutAttempt,
  type CountedAttempt,
} from '../../src/contexts/identity/domain/login.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface ConfirmPassword {
  readonly accountDigest: string;
  readonly subjectId: string;
  readonly attempt: CountedAttempt;
  readonly purpose: PasswordConfirmed['purpose'];
}

/**
 * Records a right password that did not sign in; refunds only its own attempt. If it forgave wrong ones too, a client
 * that knows the password could guess codes without limit.
 */
export const confirmPassword = defineCommand({
  name: 'ConfirmPassword',
  aggregate: login,
  tail: LOGIN_TAIL,
  stream: ({ accountDigest }: ConfirmPassword, { tenantId }) => loginStream(tenantId, accountDigest),
  decide: (state, { subjectId, attempt, purpose }, { now }) =>
    accept([
      {
        type: 'PasswordConfirmed',
        data: {
          at: new Date(now).toISOString(),
          subjectId,
          purpose,
          standing: toRecordedCounters(withoutAttempt(state, attempt), now),
        },
      },
    ]),
});
