import { login, LOGIN_TAIL, loginStream } from '../../src/domain/logins/login.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';

interface RecordLoginSuccess {
  readonly accountDigest: string;
  readonly subjectId: string;
}

/** Everything that was asked for was right: earlier wrong tries no longer count. */
export const recordLoginSuccess = defineCommand({
  name: 'RecordLoginSuccess',
  aggregate: login,
  tail: LOGIN_TAIL,
  stream: ({ accountDigest }: RecordLoginSuccess, { tenantId }) => loginStream(tenantId, accountDigest),
  decide: (_state, { subjectId }, { now }) =>
    accept([{ type: 'LoginSucceeded', data: { at: new Date(now).toISOString(), subjectId } }]),
});
