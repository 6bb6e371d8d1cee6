import { describe, expect, it } from 'vitest';
import { orgAdmins } from '../../../projections/organizations/org-admins.ts';
import { organizationDirectory } from '../../../projections/organizations/organization-directory.ts';
import { organizations } from '../../../projections/organizations/organizations.ts';
import { orgSsoConfigs } from '../../../projections/organizations/org-sso-configs.ts';
import { orgSsoRouting } from '../../../projections/organizations/org-sso-routing.ts';
import { DEFAULT_ISSUER_TRUST } from '../../../src/contexts/sso/domain/fields.ts';
import type { OrganizationEvent } from '../../../src/contexts/organizations/domain/events.ts';
import type { AnyReadModel } from '../../../src/platform/kernel/read-model.ts';
import { NOW, recorded, rowsAfter, TENANT } from '../../dsl/given.ts';

const CONFIG = '77777777-7777-4777-8777-777777777771';
const SECRET = '88888888-8888-4888-8888-888888888888';
const at = (n: number) => new Date(NOW + n * 1_000).toISOString();

const created: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { name: 'North', slug: 'north', externalBaseUrl: 'https://c.example' },
};
const settings = {
  configId: CONFIG,
  name: 'Okta',
  issuerUrl: 'https://idp.example',
  clientId: 'c',
  scopes: 'openid',
  emailDomains: ['n.example'],
  ...DEFAULT_ISSUER_TRUST,
};
const configured: OrganizationEvent = {
  type: 'OrgSsoConfigCreated',
  data: { ...settings, clientSecretRef: SECRET, isEnabled: true },
};

function after(model: AnyReadModel, ...events: OrganizationEvent[]) {
  const history = events.map((event, index) => recorded(event, index + 1));
  expect(rowsAfter(model, history, 1)).toEqual(rowsAfter(model, history));
  return rowsAfter(model, history);
}

describe('the tables of an organization', () => {
  it('show the organization and whether single sign-on is required', () => {
    const required: OrganizationEvent = { type: 'OrgSsoRequirementSet', data: { requireSso: true } };
    expect(after(organizations, created)).toMatchObject([
      { id: TENANT, name: 'North', slug: 'north', external_base_url: 'https://c.example', require_sso: false },
    ]);
    expect(after(organizations, created, required)).toMatchObject([{ require_sso: true }]);
    expect(after(organizationDirectory, created, required)).toMatchObject([
      { id: TENANT, name: 'North', slug: 'north', external_base_url: 'https://c.example' },
    ]);
  });

  it('show its admins, and who is suspended', () => {
    const admin = (adminId: string): OrganizationEvent => ({
      type: 'OrgAdminCreated',
      data: {
        adminId,
        email: 'a@n.example',
        accountDigest: 'digest',
        displayName: 'A',
        role: 'org_owner',
        passwordRef: SECRET,
        mustChangePassword: true,
        passwordExpiresAt: at(9),
      },
    });
    const both = [created, admin(CONFIG), admin(SECRET)];
    const suspended: OrganizationEvent = { type: 'OrgAdminSuspended', data: { adminId: SECRET } };
    const statuses = (...events: OrganizationEvent[]) =>
      after(orgAdmins, ...both, ...events).map(({ admin_id, status }) => [admin_id, status]);
    expect(statuses(suspended)).toEqual([
      [CONFIG, 'active'],
      [SECRET, 'suspended'],
    ]);
    expect(statuses(suspended, { type: 'OrgAdminReinstated', data: { adminId: SECRET } })).toEqual([
      [CONFIG, 'active'],
      [SECRET, 'active'],
    ]);
  });

  it("show an admin's second factor, and which sessions have ended", () => {
    const admin: OrganizationEvent = {
      type: 'OrgAdminCreated',
      data: {
        adminId: CONFIG,
        email: 'a@n.example',
        accountDigest: 'digest',
        displayName: 'A',
        role: 'org_viewer',
        passwordRef: SECRET,
        mustChangePassword: false,
        passwordExpiresAt: null,
      },
    };
    const enabled: OrganizationEvent = {
      type: 'OrgAdminMfaEnabled',
      data: { adminId: CONFIG, totpSecretRef: SECRET, backupCodesRef: SECRET, backupCodes: 10, step: 1 },
    };
    const used: OrganizationEvent = {
      type: 'OrgAdminBackupCodeUsed',
      data: { adminId: CONFIG, backupCodesRef: SECRET, place: 3 },
    };
    const row = (...events: OrganizationEvent[]) => after(orgAdmins, created, admin, ...events)[0];
    expect(row()).toMatchObject({
      mfa_enabled: false,
      mfa_enabled_at: null,
      backup_codes_remaining: 0,
      session_epoch: 0,
      kept_session_id: null,
    });
    expect(row(enabled, used)).toMatchObject({ mfa_enabled: true, mfa_enabled_at: at(3), backup_codes_remaining: 9 });
    expect(
      row(enabled, used, { type: 'OrgAdminMfaDisabled', data: { adminId: CONFIG, reason: 'removed' } }),
    ).toMatchObject({ mfa_enabled: false, backup_codes_remaining: 0 });
    const others: OrganizationEvent = {
      type: 'OrgAdminOtherSessionsRevoked',
      data: { adminId: CONFIG, keptSessionId: SECRET },
    };
    expect(row(others)).toMatchObject({ session_epoch: 1, kept_session_id: SECRET });
    expect(
      row(others, { type: 'OrgAdminSessionsRevoked', data: { adminId: CONFIG, reason: 'recovered' } }),
    ).toMatchObject({ session_epoch: 2, kept_session_id: null });
  });

  it('show that a configuration has a secret, but not where', () => {
    const rows = after(orgSsoConfigs, created, configured);
    expect(rows).toMatchObject([
      {
        config_id: CONFIG,
        name: 'Okta',
        issuer_url: 'https://idp.example',
        client_secret_configured: true,
        email_domains: ['n.example'],
        is_enabled: true,
        trust: DEFAULT_ISSUER_TRUST,
        created_at: at(2),
        updated_at: at(2),
      },
    ]);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });

  it('show a configuration until it is removed', () => {
    const changed: OrganizationEvent = {
      type: 'OrgSsoConfigUpdated',
      data: { ...settings, name: 'Entra', clientSecretRef: null, isEnabled: false },
    };
    expect(after(orgSsoConfigs, created, configured, changed)).toMatchObject([
      { name: 'Entra', client_secret_configured: false, is_enabled: false, created_at: at(2), updated_at: at(3) },
    ]);
    expect(
      after(orgSsoConfigs, created, configured, { type: 'OrgSsoConfigDeleted', data: { configId: CONFIG } }),
    ).toEqual([]);
  });

  it('map e-mail domains to a provider while it is enabled', () => {
    const changed = (isEnabled: boolean): OrganizationEvent => ({
      type: 'OrgSsoConfigUpdated',
      data: { ...settings, emailDomains: ['m.example'], clientSecretRef: null, isEnabled },
    });
    expect(after(orgSsoRouting, created, configured)).toMatchObject([
      { config_id: CONFIG, organization_id: TENANT, email_domains: ['n.example'] },
    ]);
    expect(after(orgSsoRouting, created, configured, changed(true))).toMatchObject([{ email_domains: ['m.example'] }]);
    expect(after(orgSsoRouting, created, configured, changed(false))).toEqual([]);
    expect(after(orgSsoRouting, created, configured, changed(false), changed(true))).toMatchObject([
      { email_domains: ['m.example'] },
    ]);
    expect(
      after(orgSsoRouting, created, configured, { type: 'OrgSsoConfigDeleted', data: { configId: CONFIG } }),
    ).toEqual([]);
  });
});
