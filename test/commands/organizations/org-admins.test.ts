import { describe, expect, it } from 'vitest';
import { createOrgAdmin } from '../../../commands/organizations/create-org-admin.ts';
import { deleteOrgAdmin } from '../../../commands/organizations/delete-org-admin.ts';
import { resetOrgAdminPassword } from '../../../commands/organizations/reset-org-admin-password.ts';
import { updateOrgAdmin } from '../../../commands/organizations/update-org-admin.ts';
import { recoverOrgAdmin } from '../../../commands/organizations/recover-org-admin.ts';
import { suspendOrgAdmin } from '../../../commands/organizations/suspend-org-admin.ts';
import type { OrgRole } from '../../../src/contexts/identity/domain/roles.ts';
import type { OrganizationEvent } from '../../../src/contexts/organizations/domain/events.ts';
import { organization } from '../../../src/contexts/organizations/domain/organization.ts';
import { given } from '../../dsl/given.ts';

const [ADA, BOB] = ['44444444-4444-4444-8444-444444444441', '44444444-4444-4444-8444-444444444442'];
const [REF, NEW_REF] = ['55555555-5555-4555-8555-555555555551', '55555555-5555-4555-8555-555555555552'];

const admin = (adminId: string, role: OrgRole): OrganizationEvent => ({
  type: 'OrgAdminCreated',
  data: {
    adminId,
    email: `${adminId}@north.example`,
    accountDigest: `digest of ${adminId}`,
    displayName: role,
    role,
    passwordRef: REF,
    mustChangePassword: false,
    passwordExpiresAt: null,
  },
});
const suspended = (adminId: string): OrganizationEvent => ({ type: 'OrgAdminSuspended', data: { adminId } });
const required = (requireSso: boolean): OrganizationEvent => ({ type: 'OrgSsoRequirementSet', data: { requireSso } });
const owners = [admin(ADA, 'org_owner'), admin(BOB, 'org_owner')];
const stateAfter = (...events: OrganizationEvent[]) =>
  events.reduce((state, event) => organization.fold(state, event), organization.initial);

describe('suspending an admin of an organization', () => {
  it('ends their access', () => {
    given(...owners)
      .when(suspendOrgAdmin, { adminId: BOB })
      .then(suspended(BOB));
  });

  it('leaves at least one owner who can sign in', () => {
    given(admin(ADA, 'org_owner'), admin(BOB, 'org_admin'))
      .when(suspendOrgAdmin, { adminId: ADA })
      .thenRefused('conflict', 'the last active owner must remain');
    given(...owners, suspended(BOB))
      .when(suspendOrgAdmin, { adminId: ADA })
      .thenRefused('conflict');
    given(admin(ADA, 'org_owner'), admin(BOB, 'org_viewer'))
      .when(suspendOrgAdmin, { adminId: BOB })
      .then(suspended(BOB));
  });

  it('has no effect the second time, and fails for an unknown admin', () => {
    given(...owners, suspended(BOB))
      .when(suspendOrgAdmin, { adminId: BOB })
      .thenNothing();
    given(admin(ADA, 'org_owner')).when(suspendOrgAdmin, { adminId: BOB }).thenRefused('notFound');
    given().when(suspendOrgAdmin, { adminId: ADA }).thenRefused('notFound');
  });
});

describe('recovering an admin of an organization', () => {
  const recover = { adminId: ADA, tempPassword: 'not in any event' };
  const facts = { passwordRef: NEW_REF };
  const changed: OrganizationEvent = {
    type: 'OrgAdminPasswordChanged',
    data: {
      adminId: ADA,
      passwordRef: NEW_REF,
      mustChangePassword: true,
      reason: 'recovered',
      passwordExpiresAt: '2026-06-08T12:00:00.000Z',
    },
  };
  const revoked: OrganizationEvent = { type: 'OrgAdminSessionsRevoked', data: { adminId: ADA, reason: 'recovered' } };
  const reinstated: OrganizationEvent = { type: 'OrgAdminReinstated', data: { adminId: ADA } };

  it('sets another password and ends every session', () => {
    const outcome = given(...owners).when(recoverOrgAdmin, recover, facts);
    outcome.then(changed, revoked);
    outcome.thenForgets(REF);
    expect(outcome.result()).toEqual({ liftedSso: false });
  });

  it('works from every state', () => {
    given(...owners, suspended(ADA))
      .when(recoverOrgAdmin, recover, facts)
      .then(changed, revoked, reinstated);
    given(...owners, suspended(ADA), reinstated)
      .when(recoverOrgAdmin, recover, facts)
      .then(changed, revoked);
    const locked = given(...owners, required(true), suspended(ADA)).when(recoverOrgAdmin, recover, facts);
    locked.then(changed, revoked, reinstated, required(false));
    locked.thenForgets(REF);
    expect(locked.result()).toEqual({ liftedSso: true });
    given(...owners, required(true), required(false))
      .when(recoverOrgAdmin, recover, facts)
      .then(changed, revoked);
  });

  it('removes the second factor and its secrets', () => {
    const [TOTP, CODES] = ['66666666-6666-4666-8666-666666666661', '66666666-6666-4666-8666-666666666662'];
    const started: OrganizationEvent = { type: 'OrgAdminMfaSetupStarted', data: { adminId: ADA, totpSecretRef: TOTP } };
    const enabled: OrganizationEvent = {
      type: 'OrgAdminMfaEnabled',
      data: { adminId: ADA, totpSecretRef: TOTP, backupCodesRef: CODES, backupCodes: 10, step: 7 },
    };
    const disabled: OrganizationEvent = { type: 'OrgAdminMfaDisabled', data: { adminId: ADA, reason: 'recovered' } };
    const on = given(...owners, started, enabled).when(recoverOrgAdmin, recover, facts);
    on.then(changed, revoked, disabled);
    on.thenForgets(REF, TOTP, CODES);
    given(...owners, started)
      .when(recoverOrgAdmin, recover, facts)
      .then(changed, revoked, disabled);
    expect(stateAfter(...owners, started, enabled, changed, revoked, disabled).admins.get(ADA)).toMatchObject({
      mfa: undefined,
      pendingTotpSecretRef: undefined,
      mustChangePassword: true,
    });
  });

  it('marks the password of the previous recovery as unused', () => {
    const again = given(...owners, changed, revoked).when(recoverOrgAdmin, recover, { passwordRef: REF });
    again.thenForgets(NEW_REF);
    expect(again.result()).toEqual({ liftedSso: false });
  });

  it('fails for an account of another organization', () => {
    given().when(recoverOrgAdmin, recover, facts).thenRefused('notFound');
    given(admin(BOB, 'org_owner')).when(recoverOrgAdmin, recover, facts).thenRefused('notFound');
  });

  it('restores no session that a suspension ended', () => {
    const epochs = [stateAfter(...owners), stateAfter(...owners, suspended(ADA), reinstated)].map(
      ({ admins }) => admins.get(ADA)!.sessionEpoch,
    );
    expect(epochs).toEqual([0, 1]);
    expect(stateAfter(...owners, suspended(ADA), changed, revoked, reinstated).admins.get(ADA)).toMatchObject({
      status: 'active',
      passwordRef: NEW_REF,
    });
    expect(stateAfter(...owners, suspended(ADA), changed, revoked, reinstated).admins.get(BOB)).toMatchObject({
      passwordRef: REF,
      sessionEpoch: 0,
    });
  });
});

describe('administering the admins of an organization', () => {
  const created = (role: OrgRole) => ({
    adminId: BOB,
    email: `${BOB}@north.example`,
    displayName: role,
    role,
    password: 'not in any event',
    mustChangePassword: true,
  });
  const facts = { passwordRef: NEW_REF, accountDigest: `digest of ${BOB}` };
  const founded: OrganizationEvent = {
    type: 'OrganizationCreated',
    data: { name: 'North', slug: 'north', externalBaseUrl: 'https://castellan.example' },
  };
  const by = (id: string) => ({ actor: { kind: 'org_admin' as const, id } });
  const roleOf = (adminId: string, role: OrgRole): OrganizationEvent => ({
    type: 'OrgAdminRoleChanged',
    data: { adminId, role },
  });

  it('adds an account whose temporary password ends, and claims its e-mail', () => {
    const added = given(founded, admin(ADA, 'org_owner')).when(createOrgAdmin, created('org_admin'), facts);
    expect(added.result()).toEqual({ passwordExpiresAt: '2026-06-08T12:00:00.000Z' });
    given(founded, admin(BOB, 'org_owner')).when(createOrgAdmin, created('org_viewer'), facts).thenRefused('conflict');
    given().when(createOrgAdmin, created('org_owner'), facts).thenRefused('notFound');
  });

  it('changes role and status, but not of the last active owner', () => {
    given(...owners)
      .when(updateOrgAdmin, { adminId: BOB, role: 'org_viewer' }, { accountDigest: undefined }, by(ADA))
      .then(roleOf(BOB, 'org_viewer'));
    given(...owners, suspended(BOB))
      .when(updateOrgAdmin, { adminId: BOB, status: 'active' }, { accountDigest: undefined }, by(ADA))
      .then({ type: 'OrgAdminReinstated', data: { adminId: BOB } });
    for (const change of [{ role: 'org_admin' as const }, { status: 'suspended' as const }]) {
      given(...owners, suspended(BOB))
        .when(updateOrgAdmin, { adminId: ADA, ...change }, { accountDigest: undefined }, by(BOB))
        .thenRefused('conflict', 'the last active owner must remain');
      given(...owners)
        .when(updateOrgAdmin, { adminId: ADA, ...change }, { accountDigest: undefined }, by(ADA))
        .thenRefused('conflict', 'not possible for your own account');
    }
    given(...owners)
      .when(updateOrgAdmin, { adminId: REF }, { accountDigest: undefined })
      .thenRefused('notFound');
    given(...owners)
      .when(updateOrgAdmin, { adminId: BOB, role: 'org_owner', status: 'active' }, { accountDigest: undefined })
      .thenNothing();
  });

  it('deletes an account with its secrets, but not the last active owner', () => {
    const gone = given(...owners).when(deleteOrgAdmin, { adminId: BOB }, undefined, by(ADA));
    gone.then({ type: 'OrgAdminDeleted', data: { adminId: BOB } });
    gone.thenForgets(REF);
    given(...owners, suspended(BOB))
      .when(deleteOrgAdmin, { adminId: ADA }, undefined, by(BOB))
      .thenRefused('conflict', 'the last active owner must remain');
    expect(stateAfter(...owners, { type: 'OrgAdminDeleted', data: { adminId: BOB } }).admins.has(BOB)).toBe(false);
  });

  it('resets the password of somebody else', () => {
    const reset = given(...owners).when(
      resetOrgAdminPassword,
      { adminId: BOB, temporaryPassword: 'not in any event' },
      { passwordRef: NEW_REF },
      by(ADA),
    );
    reset.thenForgets(REF);
    given(...owners)
      .when(resetOrgAdminPassword, { adminId: ADA, temporaryPassword: '' }, { passwordRef: NEW_REF }, by(ADA))
      .thenRefused('conflict', 'not possible for your own account');
  });
});
