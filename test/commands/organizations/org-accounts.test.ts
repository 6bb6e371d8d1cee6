import { describe, it } from 'vitest';
import { changeOrgPassword } from '../../../commands/organizations/change-org-password.ts';
import { disableOrgMfa } from '../../../commands/organizations/disable-org-mfa.ts';
import { enableOrgMfa } from '../../../commands/organizations/enable-org-mfa.ts';
import { revokeOtherOrgSessions } from '../../../commands/organizations/revoke-other-org-sessions.ts';
import { startOrgMfaSetup } from '../../../commands/organizations/start-org-mfa-setup.ts';
import { useOrgBackupCode } from '../../../commands/organizations/use-org-backup-code.ts';
import type { OrganizationEvent } from '../../../src/contexts/organizations/domain/events.ts';
import { given } from '../../dsl/given.ts';

const [ADA, NOBODY, SESSION] = [
  '44444444-4444-4444-8444-444444444441',
  '44444444-4444-4444-8444-444444444449',
  '77777777-7777-4777-8777-777777777777',
];
const [REF, NEW_REF] = ['55555555-5555-4555-8555-555555555551', '55555555-5555-4555-8555-555555555552'];
const [TOTP, OTHER_TOTP, CODES, OTHER_CODES] = ['1', '2', '3', '4'].map(
  (digit) => `66666666-6666-4666-8666-66666666666${digit}`,
) as [string, string, string, string];

const admin: OrganizationEvent = {
  type: 'OrgAdminCreated',
  data: {
    adminId: ADA,
    email: 'ada@north.example',
    accountDigest: 'digest',
    displayName: 'Ada',
    role: 'org_viewer',
    passwordRef: REF,
    mustChangePassword: true,
    passwordExpiresAt: '2026-06-08T12:00:00.000Z',
  },
};
const started = (totpSecretRef = TOTP): OrganizationEvent => ({
  type: 'OrgAdminMfaSetupStarted',
  data: { adminId: ADA, totpSecretRef },
});
const enabled: OrganizationEvent = {
  type: 'OrgAdminMfaEnabled',
  data: { adminId: ADA, totpSecretRef: TOTP, backupCodesRef: CODES, backupCodes: 10, step: 7 },
};
const used = (place: number): OrganizationEvent => ({
  type: 'OrgAdminBackupCodeUsed',
  data: { adminId: ADA, backupCodesRef: CODES, place },
});
const disabled: OrganizationEvent = { type: 'OrgAdminMfaDisabled', data: { adminId: ADA, reason: 'removed' } };

describe("the second factor of an organization's admin", () => {
  it('can be started, and restarted until it is on', () => {
    given(admin).when(startOrgMfaSetup, { adminId: ADA, totpSecretRef: TOTP }).then(started());
    const anew = given(admin, started()).when(startOrgMfaSetup, { adminId: ADA, totpSecretRef: OTHER_TOTP });
    anew.then(started(OTHER_TOTP));
    anew.thenForgets(TOTP);
    given(admin, started(), enabled)
      .when(startOrgMfaSetup, { adminId: ADA, totpSecretRef: OTHER_TOTP })
      .thenRefused('conflict', 'multi-factor authentication is already enabled');
    given(admin).when(startOrgMfaSetup, { adminId: NOBODY, totpSecretRef: TOTP }).thenRefused('notFound');
  });

  it('is turned on by a code for the pending secret', () => {
    given(admin, started()).when(enableOrgMfa, enabled.data).then(enabled);
    given(admin, started(OTHER_TOTP))
      .when(enableOrgMfa, enabled.data)
      .thenRefused('conflict', 'the set-up was restarted: use the newest secret');
    given(admin).when(enableOrgMfa, enabled.data).thenRefused('conflict');
    given(admin, started(), enabled)
      .when(enableOrgMfa, enabled.data)
      .thenRefused('conflict', 'multi-factor authentication is already enabled');
  });

  it('accepts a backup code once, and never after its set was replaced', () => {
    const use = { adminId: ADA, backupCodesRef: CODES, place: 3 };
    given(admin, started(), enabled).when(useOrgBackupCode, use).then(used(3));
    given(admin, started(), enabled, used(4)).when(useOrgBackupCode, use).then(used(3));
    given(admin, started(), enabled, used(3))
      .when(useOrgBackupCode, use)
      .thenRefused('unauthenticated', 'invalid code');
    given(admin, started(), enabled)
      .when(useOrgBackupCode, { ...use, backupCodesRef: OTHER_CODES })
      .thenRefused('unauthenticated');
    given(admin, started(), enabled, disabled).when(useOrgBackupCode, use).thenRefused('unauthenticated');
  });

  it('is turned off together with its secrets; nothing happens if it is off', () => {
    const off = given(admin, started(), enabled).when(disableOrgMfa, { adminId: ADA });
    off.then(disabled);
    off.thenForgets(TOTP, CODES);
    given(admin, started()).when(disableOrgMfa, { adminId: ADA }).then(disabled);
    given(admin, started(), enabled, disabled).when(disableOrgMfa, { adminId: ADA }).thenNothing();
    given(admin).when(disableOrgMfa, { adminId: NOBODY }).thenRefused('notFound');
  });
});

describe("the password of an organization's admin", () => {
  const change = { adminId: ADA, newPassword: 'not in any event', provedRef: REF, keptSessionId: null, known: [] };
  const facts = { passwordRef: NEW_REF };
  const changed: OrganizationEvent = {
    type: 'OrgAdminPasswordChanged',
    data: { adminId: ADA, passwordRef: NEW_REF, mustChangePassword: false, reason: 'changed', passwordExpiresAt: null },
  };

  it('ends every session when it is changed before the first one', () => {
    const outcome = given(admin).when(changeOrgPassword, change, facts);
    outcome.then(changed, { type: 'OrgAdminSessionsRevoked', data: { adminId: ADA, reason: 'password changed' } });
    outcome.thenForgets(REF);
  });

  it('keeps the session from which it is changed', () => {
    given(admin)
      .when(changeOrgPassword, { ...change, keptSessionId: SESSION }, facts)
      .then(changed, { type: 'OrgAdminOtherSessionsRevoked', data: { adminId: ADA, keptSessionId: SESSION } });
  });

  it('is not changed by a user who proved a former password, or was suspended', () => {
    given(admin, changed)
      .when(changeOrgPassword, change, facts)
      .thenRefused('unauthenticated', 'the password was changed in the meantime');
    given(admin, { type: 'OrgAdminSuspended', data: { adminId: ADA } })
      .when(changeOrgPassword, change, facts)
      .thenRefused('unauthenticated');
    given().when(changeOrgPassword, change, facts).thenRefused('unauthenticated');
  });
});

describe("the other sessions of an organization's admin", () => {
  it('end with one event, which names the remaining one', () => {
    const revoke = { adminId: ADA, keptSessionId: SESSION };
    given(admin).when(revokeOtherOrgSessions, revoke).then({ type: 'OrgAdminOtherSessionsRevoked', data: revoke });
    given(admin)
      .when(revokeOtherOrgSessions, { ...revoke, adminId: NOBODY })
      .thenRefused('notFound');
  });
});
