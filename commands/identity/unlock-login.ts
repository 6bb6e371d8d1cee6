import { login, LOGIN_TAIL, loginStream } from '../../src/contexts/identity/domain/login.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface UnlockLogin {
  readonly accountDigest: string;
  readonly subjectId: string;
}

/** Ends every lock early, for all sources, and forgets wrong attempts. */
export const unlockLogin = defineCommand({
  name: 'UnlockLogin',
  aggregate: login,
  tail: LOGIN_TAIL,
  stream: ({ accountDigest }: UnlockLogin, { tenantId }) => loginStream(tenantId, accountDigest),
  decide: ({ counters }, { subjectId }, { now }) =>
    accept(
      Object.keys(counters).length > 0
        ? [{ type: 'LoginUnlocked', data: { at: new Date(now).toISOString(), subjectId } }]
        : [],
    ),
  freshens: ['admin_locks'],
});
