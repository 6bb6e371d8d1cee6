import type { PasswordConfirmed } from '../../src/domain/logins/events.ts';
import { login, LOGIN_TAIL, loginStream, triesWithout } from '../../src/domain/logins/login.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';

interface ConfirmPassword {
  readonly accountDigest: string;
  readonly subjectId: string;
  /** When the try was taken, epoch milliseconds. */
  readonly triedAt: number;
  readonly purpose: PasswordConfirmed['purpose'];
}

/**
 * The right password, but not the way in: gives back its own try alone. If it forgave the wrong ones too, whoever knows
 * the password could guess codes without end.
 */
export const confirmPassword = defineCommand({
  name: 'ConfirmPassword',
  aggregate: login,
  tail: LOGIN_TAIL,
  stream: ({ accountDigest }: ConfirmPassword, { tenantId }) => loginStream(tenantId, accountDigest),
  decide(state, { subjectId, triedAt, purpose }, { now }) {
    const tries = triesWithout(state, triedAt).map((then) => new Date(then).toISOString());
    return accept([{ type: 'PasswordConfirmed', data: { at: new Date(now).toISOString(), subjectId, purpose, tries } }]);
  },
});
