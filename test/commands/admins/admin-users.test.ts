import { describe, expect, it } from 'vitest';
import { createAdminUser } from '../../../commands/admins/create-admin-user.ts';
import { deleteAdminUser } from '../../../commands/admins/delete-admin-user.ts';
import { resetAdminPassword } from '../../../commands/admins/reset-admin-password.ts';
import { setAdminMobileAccess } from '../../../commands/admins/set-admin-mobile-access.ts';
import { updateAdminUser } from '../../../commands/admins/update-admin-user.ts';
import { adminRoles, type AdminRole } from '../../../src/contexts/identity/domain/roles.ts';
import { given } from '../../dsl/given.ts';
import { ADA, BOB, created, deleted, REF, setUp, suspended } from './histories.ts';

const NEW = '99999999-9999-4999-8999-999999999999';
const by = (id: string) => ({ actor: { kind: 'admin', id } as const });
const draft = (roleType: AdminRole) => ({
  adminId: NEW,
  email: 'New@acme.example',
  displayName: 'New',
  roleType,
  password: 'not in any event',
  mustChangePassword: true,
  reauthenticated: true,
});
const NEW_REF = '55555555-5555-4555-8555-555555555556';
const facts = { passwordRef: REF, accountDigest: 'digest of new' };
const none = { accountDigest: undefined };
const claim = (value: string) => ({ kind: 'admin-email', value });

describe('creating an admin', () => {
  it('claims the e-mail', () => {
    const made = given(setUp, created(ADA)).when(createAdminUser, draft('analyst'), facts, by(ADA));
    made.then({
      type: 'AdminUserCreated',
      data: {
        adminId: NEW,
        email: 'New@acme.example',
        accountDigest: 'digest of new',
        displayName: 'New',
        roleType: 'analyst',
        passwordRef: REF,
        mustChangePassword: true,
        passwordExpiresAt: '2026-06-08T12:00:00.000Z',
      },
    });
    made.thenTakes(claim('digest of new'));
  });

  it.each(adminRoles.flatMap((actor) => adminRoles.map((target) => [actor, target] as const)))(
    'by a %s of role %s follows the matrix',
    (actor, target) => {
      const outcome = given(setUp, created(ADA), created(BOB, actor)).when(
        createAdminUser,
        draft(target),
        facts,
        by(BOB),
      );
      const allowed = actor === 'super_admin' || (actor === 'admin' && (target === 'analyst' || target === 'viewer'));
      if (allowed) outcome.thenTypes('AdminUserCreated');
      else outcome.thenRefused('forbidden', 'insufficient permissions');
    },
  );

  it('is refused for an admin who was just deleted or suspended', () => {
    for (const gone of [deleted(BOB), suspended(BOB)]) {
      given(setUp, created(ADA), created(BOB), gone)
        .when(createAdminUser, draft('viewer'), facts, by(BOB))
        .thenRefused('unauthenticated');
    }
  });
});

describe('changing an admin', () => {
  const both = [setUp, created(ADA), created(BOB)];

  it('keeps omitted fields, and records each change as its own event', () => {
    given(...both)
      .when(updateAdminUser, { reauthenticated: true, adminId: BOB }, none, by(ADA))
      .thenNothing();
    given(...both)
      .when(
        updateAdminUser,
        { reauthenticated: true, adminId: BOB, displayName: 'Robert', roleType: 'viewer', status: 'suspended' },
        none,
        by(ADA),
      )
      .then(
        { type: 'AdminUserUpdated', data: { adminId: BOB, displayName: 'Robert' } },
        { type: 'AdminRoleChanged', data: { adminId: BOB, roleType: 'viewer' } },
        suspended(BOB),
      );
    given(...both, suspended(BOB))
      .when(updateAdminUser, { reauthenticated: true, adminId: BOB, status: 'active' }, none, by(ADA))
      .then({ type: 'AdminReinstated', data: { adminId: BOB } });
  });

  it('moves the claim with the e-mail, but not if only the case differs', () => {
    const moved = given(...both).when(
      updateAdminUser,
      { reauthenticated: true, adminId: BOB, email: 'b@acme.example' },
      { accountDigest: 'new digest' },
      by(ADA),
    );
    moved.then({
      type: 'AdminUserUpdated',
      data: { adminId: BOB, email: 'b@acme.example', accountDigest: 'new digest' },
    });
    moved.thenTakes(claim('new digest'));
    moved.thenReleases(claim(`digest of ${BOB}`));
    const same = given(...both).when(
      updateAdminUser,
      { reauthenticated: true, adminId: BOB, email: 'B@acme.example' },
      { accountDigest: `digest of ${BOB}` },
      by(ADA),
    );
    same.thenTakes();
    same.thenReleases();
  });

  it.each([{ roleType: 'viewer' }, { status: 'suspended' }] as const)(
    'is not %j for oneself, nor for the last active super admin',
    (change) => {
      given(...both)
        .when(updateAdminUser, { reauthenticated: true, adminId: ADA, ...change }, none, by(ADA))
        .thenRefused('conflict', 'not possible for your own account');
      const last = given(setUp, created(ADA), created(BOB), suspended(BOB)).when(
        updateAdminUser,
        { reauthenticated: true, adminId: ADA, ...change },
        none,
        { actor: { kind: 'system', id: null } },
      );
      last.thenRefused('conflict', 'the last active super admin must remain');
    },
  );

  it("allows one's own name", () => {
    given(...both)
      .when(
        updateAdminUser,
        { reauthenticated: true, adminId: ADA, displayName: 'Augusta', roleType: 'super_admin', status: 'active' },
        none,
        by(ADA),
      )
      .thenTypes('AdminUserUpdated');
  });

  it('lets admins change only analysts and viewers, and never promote above them', () => {
    const CAROL = NEW;
    const staff = [...both, created(CAROL, 'admin')];
    given(...staff)
      .when(updateAdminUser, { reauthenticated: true, adminId: BOB, displayName: 'x' }, none, by(CAROL))
      .thenRefused('forbidden');
    given(...staff)
      .when(updateAdminUser, { reauthenticated: true, adminId: CAROL, displayName: 'x' }, none, by(CAROL))
      .thenRefused('forbidden');
    const analyst = [setUp, created(ADA), created(CAROL, 'admin'), created(BOB, 'analyst')];
    given(...analyst)
      .when(updateAdminUser, { reauthenticated: true, adminId: BOB, roleType: 'viewer' }, none, by(CAROL))
      .thenTypes('AdminRoleChanged');
    given(...analyst)
      .when(updateAdminUser, { reauthenticated: true, adminId: BOB, roleType: 'admin' }, none, by(CAROL))
      .thenRefused('forbidden');
    given(...analyst)
      .when(deleteAdminUser, { reauthenticated: true, adminId: ADA }, undefined, by(CAROL))
      .thenRefused('forbidden');
    given(...analyst)
      .when(resetAdminPassword, { adminId: ADA, temporaryPassword: 'x' }, { passwordRef: REF }, by(CAROL))
      .thenRefused('forbidden');
    given(...analyst)
      .when(setAdminMobileAccess, { adminId: ADA, mobileAccess: false }, undefined, by(CAROL))
      .thenRefused('forbidden');
  });

  it('fails for an unknown admin', () => {
    given(...both)
      .when(updateAdminUser, { reauthenticated: true, adminId: NEW, displayName: 'x' }, none, by(ADA))
      .thenRefused('notFound');
  });
});

describe('deleting an admin', () => {
  it('releases the e-mail and destroys the secrets', () => {
    const gone = given(setUp, created(ADA), created(BOB)).when(
      deleteAdminUser,
      { reauthenticated: true, adminId: BOB },
      undefined,
      by(ADA),
    );
    gone.then(deleted(BOB));
    gone.thenReleases(claim(`digest of ${BOB}`));
    gone.thenForgets(REF);
  });

  it('is refused for oneself, for the last active super admin, and by a deleted admin', () => {
    given(setUp, created(ADA), created(BOB))
      .when(deleteAdminUser, { reauthenticated: true, adminId: ADA }, undefined, by(ADA))
      .thenRefused('conflict');
    given(setUp, created(ADA))
      .when(deleteAdminUser, { reauthenticated: true, adminId: ADA }, undefined, {
        actor: { kind: 'system', id: null },
      })
      .thenRefused('conflict');
    given(setUp, created(ADA), created(BOB), deleted(BOB))
      .when(deleteAdminUser, { reauthenticated: true, adminId: ADA }, undefined, by(BOB))
      .thenRefused('unauthenticated');
  });
});

describe('a change of who controls an account', () => {
  const unproved = { reauthenticated: false };
  const refused = ['forbidden', 're-authentication required'] as const;
  const staff = (role: AdminRole) => [setUp, created(ADA), created(BOB, role)];

  it.each(adminRoles)('needs re-authentication to create a %s', (roleType) => {
    given(setUp, created(ADA))
      .when(createAdminUser, { ...draft(roleType), ...unproved }, facts, by(ADA))
      .thenRefused(...refused);
  });

  it('needs re-authentication to give an account more rights, or to reinstate it', () => {
    const suspended = { type: 'AdminSuspended', data: { adminId: BOB } } as const;
    given(...staff('viewer'))
      .when(updateAdminUser, { adminId: BOB, roleType: 'analyst', ...unproved }, none, by(ADA))
      .thenRefused(...refused);
    given(...staff('viewer'), suspended)
      .when(updateAdminUser, { adminId: BOB, status: 'active', ...unproved }, none, by(ADA))
      .thenRefused(...refused);
  });

  it.each(adminRoles)(
    'needs re-authentication to demote, suspend or delete a %s only if the role administers others',
    (role) => {
      const governing = role === 'super_admin' || role === 'admin';
      const history = staff(role);
      const outcomes = [
        given(...history).when(updateAdminUser, { adminId: BOB, status: 'suspended', ...unproved }, none, by(ADA)),
        given(...history).when(deleteAdminUser, { adminId: BOB, ...unproved }, undefined, by(ADA)),
        ...(role === 'viewer'
          ? []
          : [
              given(...history).when(updateAdminUser, { adminId: BOB, roleType: 'viewer', ...unproved }, none, by(ADA)),
            ]),
      ];
      for (const outcome of outcomes) {
        if (governing) outcome.thenRefused(...refused);
        else expect(() => outcome.result()).not.toThrow();
      }
    },
  );

  it.each(['admin', 'super_admin'] as const)('needs re-authentication to make an analyst a %s', (roleType) => {
    given(...staff('analyst'))
      .when(updateAdminUser, { adminId: BOB, roleType, ...unproved }, none, by(ADA))
      .thenRefused(...refused);
  });

  it.each(adminRoles)(
    'needs re-authentication for another e-mail of a %s, but not for another name or case of the e-mail',
    (role) => {
      const history = staff(role);
      given(...history)
        .when(
          updateAdminUser,
          { adminId: BOB, email: 'b@acme.example', ...unproved },
          { accountDigest: 'new digest' },
          by(ADA),
        )
        .thenRefused(...refused);
      given(...history)
        .when(
          updateAdminUser,
          { adminId: BOB, email: 'B@acme.example', ...unproved },
          { accountDigest: `digest of ${BOB}` },
          by(ADA),
        )
        .thenTypes('AdminUserUpdated');
      given(...history)
        .when(updateAdminUser, { adminId: BOB, displayName: 'Robert', ...unproved }, none, by(ADA))
        .thenTypes('AdminUserUpdated');
    },
  );

  it('is forbidden without the permission, with or without re-authentication', () => {
    given(...staff('admin'))
      .when(createAdminUser, { ...draft('super_admin'), ...unproved }, facts, by(BOB))
      .thenRefused('forbidden', 'insufficient permissions');
  });
});

describe("an admin's password and mobile flag", () => {
  it('forces a change after a reset, which ends every session', () => {
    given(setUp, created(ADA), created(BOB))
      .when(
        resetAdminPassword,
        { adminId: BOB, temporaryPassword: 'not in any event' },
        { passwordRef: NEW_REF },
        by(ADA),
      )
      .then(
        {
          type: 'AdminPasswordChanged',
          data: {
            adminId: BOB,
            passwordRef: NEW_REF,
            mustChangePassword: true,
            reason: 'reset',
            passwordExpiresAt: '2026-06-08T12:00:00.000Z',
          },
        },
        { type: 'AdminSessionsRevoked', data: { adminId: BOB, reason: 'password reset' } },
      );
  });

  it('sets the flag, or toggles it if no value is given', () => {
    const off = { type: 'AdminMobileAccessSet', data: { adminId: BOB, mobileAccess: false } } as const;
    const both = [setUp, created(ADA), created(BOB)];
    given(...both)
      .when(setAdminMobileAccess, { reauthenticated: true, adminId: BOB, mobileAccess: undefined }, undefined, by(ADA))
      .then(off);
    given(...both, off)
      .when(setAdminMobileAccess, { reauthenticated: true, adminId: BOB, mobileAccess: undefined }, undefined, by(ADA))
      .then({ ...off, data: { adminId: BOB, mobileAccess: true } });
    given(...both)
      .when(setAdminMobileAccess, { reauthenticated: true, adminId: BOB, mobileAccess: true }, undefined, by(ADA))
      .thenNothing();
  });
});
