import { describe, it } from 'vitest';
import { startSession } from '../../../commands/identity/start-session.ts';
import { given } from '../../dsl/given.ts';

const sessionId = '77777777-7777-4777-8777-777777777777';
const subjectId = '44444444-4444-4444-8444-444444444444';
const data = { sessionId, subjectId, subjectKind: 'admin', epoch: 1, method: 'oidc', vouchedBy: null } as const;
const started = { type: 'SessionStarted', data } as const;
const ended = { type: 'SessionEnded', data: { sessionId, subjectId, reason: 'logout' } } as const;

describe('a session', () => {
  it('starts once, also for a request that could not say that it had started', () => {
    given().when(startSession, data).then(started);
    given(started).when(startSession, data).then();
  });

  it('does not start again once it has ended, nor for somebody else, in another epoch or by another method', () => {
    given(started, ended).when(startSession, data).thenRefused('conflict');
    for (const other of [{ subjectId: sessionId }, { epoch: 2 }, { method: 'saml' as const }]) {
      given(started)
        .when(startSession, { ...data, ...other })
        .thenRefused('conflict');
    }
  });
});
