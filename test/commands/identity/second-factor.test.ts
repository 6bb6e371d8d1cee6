import { describe, it } from 'vitest';
import { acceptTotpCode } from '../../../commands/identity/accept-totp-code.ts';
import { changeAdminPassword } from '../../../commands/identity/change-admin-password.ts';
import { disableMfa } from '../../../commands/identity/disable-mfa.ts';
import { enableMfa } from '../../../commands/identity/enable-mfa.ts';
import { revokeSession } from '../../../commands/identity/revoke-session.ts';
import { startMfaSetup } from '../../../commands/identity/start-mfa-setup.ts';
import { useBackupCode } from '../../../commands/identity/use-backup-code.ts';
import { recoverAdmin } from '../../../commands/identity/recover-admin.ts';
import { given } from '../../dsl/given.ts';
import { ADA, created, REF } from '../admins/histories.ts';

const OTHER_REF = '66666666-6666-4666-8666-666666666666';
const CODES_REF = '77777777-7777-4777-8777-777777777777';
const started = { type: 'AdminMfaSetupStarted', data: { adminId: ADA, totpSecretRef: REF } } as const;
const enabled = {
  type: 'AdminMfaEnabled' as const,
  data: { adminId: ADA, totpSecretRef: REF, step: 7, backupCodesRef: CODES_REF, backupCodes: 10 },
};
const used = (place: number, sessionId?: string) => ({
  type: 'AdminBackupCodeUsed' as const,
  data: { adminId: ADA, backupCodesRef: CODES_REF, place, ...(sessionId === undefined ? {} : { sessionId }) },
});
const SIGN_IN = '88888888-8888-4888-8888-888888888888';
const ANOTHER = '99999999-9999-4999-8999-999999999999';
const ada = created(ADA);

describe('setting a second factor up', () => {
  it('returns a new secret on every request, and destroys the pending one', () => {
    given(ada).when(startMfaSetup, started.data).thenForgets();
    const again = given(ada, started).when(startMfaSetup, { adminId: ADA, totpSecretRef: OTHER_REF });
    again.thenTypes('AdminMfaSetupStarted');
    again.thenForgets(REF);
  });

  it('completes once, with the pending secret', () => {
    given(ada, started).when(enableMfa, enabled.data).then(enabled);
    given(ada, started)
      .when(enableMfa, { ...enabled.data, totpSecretRef: OTHER_REF })
      .thenRefused('conflict');
    given(ada, started, enabled).when(enableMfa, enabled.data).thenRefused('conflict');
    given(ada).when(enableMfa, enabled.data).thenRefused('conflict');
  });

  it('does not replace an active one', () => {
    given(ada, started, enabled)
      .when(startMfaSetup, { adminId: ADA, totpSecretRef: OTHER_REF })
      .thenRefused('conflict');
  });

  it('is undone together with its vault secrets, also if there was none', () => {
    const off = given(ada, started, enabled).when(disableMfa, { adminId: ADA });
    off.then({ type: 'AdminMfaDisabled', data: { adminId: ADA, reason: 'removed' } });
    off.thenForgets(REF, CODES_REF);
    given(ada).when(disableMfa, { adminId: ADA }).thenNothing();
  });
});

describe('a code', () => {
  const accepted = (
    step: number,
    totpSecretRef = REF,
    type: 'TotpCodeAccepted' | 'OrgAdminTotpCodeAccepted' = 'TotpCodeAccepted',
  ) => ({
    type,
    data: { adminId: ADA, totpSecretRef, step },
  });
  const accept = (step: number, totpSecretRef = REF) => ({
    ...accepted(step, totpSecretRef).data,
    subjectKind: 'admin' as const,
  });

  it('of an app is accepted once, and older ones are not', () => {
    given().when(acceptTotpCode, accept(8)).then(accepted(8));
    given(accepted(8)).when(acceptTotpCode, accept(9)).then(accepted(9));
    for (const step of [8, 7])
      given(accepted(8)).when(acceptTotpCode, accept(step)).thenRefused('unauthenticated', 'invalid code');
  });

  it('of an app is accepted again for the sign-in that used it, and for no other', () => {
    const mine = (step: number) => ({ ...accepted(step), data: { ...accepted(step).data, sessionId: SIGN_IN } });
    const again = (step: number, sessionId?: string) => ({ ...accept(step), ...(sessionId ? { sessionId } : {}) });
    given(mine(8)).when(acceptTotpCode, again(8, SIGN_IN)).thenNothing();
    for (const other of [again(8, ANOTHER), again(8), again(7, SIGN_IN)])
      given(mine(8)).when(acceptTotpCode, other).thenRefused('unauthenticated', 'invalid code');
    given(accepted(8)).when(acceptTotpCode, again(8, SIGN_IN)).thenRefused('unauthenticated', 'invalid code');
    given(mine(8), accepted(9)).when(acceptTotpCode, again(8, SIGN_IN)).thenRefused('unauthenticated', 'invalid code');
  });

  it('is valid only for its own secret', () => {
    given(accepted(8)).when(acceptTotpCode, accept(8, OTHER_REF)).then(accepted(8, OTHER_REF));
  });

  it("of an organization's admin is recorded under that admin, and is accepted once", () => {
    const theirs = { ...accept(8), subjectKind: 'org_admin' as const };
    const event = accepted(8, REF, 'OrgAdminTotpCodeAccepted');
    given().when(acceptTotpCode, theirs).then(event);
    given(event).when(acceptTotpCode, theirs).thenRefused('unauthenticated', 'invalid code');
  });

  it('for a backup is accepted once', () => {
    given(ada, started, enabled).when(useBackupCode, used(3).data).then(used(3));
    given(ada, started, enabled, used(3))
      .when(useBackupCode, used(3).data)
      .thenRefused('unauthenticated', 'invalid code');
    given(ada, started, enabled, used(3)).when(useBackupCode, used(4).data).then(used(4));
  });

  it('for a backup is accepted again for the sign-in that used it, and for no other', () => {
    const history = [ada, started, enabled, used(3, SIGN_IN)] as const;
    given(...history)
      .when(useBackupCode, used(3, SIGN_IN).data)
      .thenNothing();
    for (const other of [used(3, ANOTHER), used(3)])
      given(...history)
        .when(useBackupCode, other.data)
        .thenRefused('unauthenticated', 'invalid code');
    given(ada, started, enabled, used(3))
      .when(useBackupCode, used(3, SIGN_IN).data)
      .thenRefused('unauthenticated', 'invalid code');
    given(...history)
      .when(useBackupCode, { ...used(3, SIGN_IN).data, backupCodesRef: OTHER_REF })
      .thenRefused('unauthenticated');
  });

  it('for a backup is invalid once its set was replaced', () => {
    given(ada, started, enabled)
      .when(useBackupCode, { ...used(3).data, backupCodesRef: OTHER_REF })
      .thenRefused('unauthenticated');
    given(ada, started, enabled, { type: 'AdminMfaDisabled', data: { adminId: ADA, reason: 'removed' } })
      .when(useBackupCode, used(3).data)
      .thenRefused('unauthenticated');
  });
});

describe('recovery', () => {
  const recover = { adminId: ADA, accountDigest: `digest of ${ADA}`, tempPassword: 'not in any event' };
  const facts = { passwordRef: OTHER_REF };
  const always = ['AdminPasswordChanged', 'AdminSessionsRevoked'] as const;

  it('works from every state', () => {
    given(ada)
      .when(recoverAdmin, recover, facts)
      .thenTypes(...always);
    given(ada, started, enabled)
      .when(recoverAdmin, recover, facts)
      .thenTypes(...always, 'AdminMfaDisabled');
    const suspended = given(ada, started, enabled, { type: 'AdminSuspended', data: { adminId: ADA } }).when(
      recoverAdmin,
      recover,
      facts,
    );
    suspended.thenTypes(...always, 'AdminMfaDisabled', 'AdminReinstated');
    suspended.thenForgets(REF, REF, CODES_REF);
  });

  it('fails for an unknown account or one that does not match', () => {
    given().when(recoverAdmin, recover, facts).thenRefused('notFound');
    given(ada)
      .when(recoverAdmin, { ...recover, accountDigest: 'another' }, facts)
      .thenRefused('notFound');
  });

  it('invalidates a pending password change', () => {
    const change = { adminId: ADA, newPassword: 'not in any event', epoch: 0 };
    given(ada)
      .when(changeAdminPassword, change, facts)
      .thenTypes(...always);
    given(ada, { type: 'AdminSessionsRevoked', data: { adminId: ADA, reason: 'recovered' } })
      .when(changeAdminPassword, change, facts)
      .thenRefused('unauthenticated', 'invalid or expired token');
  });
});

describe('a session', () => {
  const session = {
    type: 'SessionStarted',
    data: { sessionId: REF, subjectId: ADA, subjectKind: 'admin', epoch: 0, method: 'password', vouchedBy: null },
  } as const;

  it('can be revoked by its own admin only, once', () => {
    const ended = { type: 'SessionEnded', data: { sessionId: REF, subjectId: ADA, reason: 'revoked' } } as const;
    given(session).when(revokeSession, { sessionId: REF, subjectId: ADA }).then(ended);
    given(session).when(revokeSession, { sessionId: REF, subjectId: OTHER_REF }).thenRefused('notFound');
    given(session, ended).when(revokeSession, { sessionId: REF, subjectId: ADA }).thenRefused('notFound');
    given().when(revokeSession, { sessionId: REF, subjectId: ADA }).thenRefused('notFound');
  });
});
