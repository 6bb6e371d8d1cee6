import { describe, expect, it } from 'vitest';
import { createOrgSsoConfig } from '../../../commands/organizations/create-org-sso-config.ts';
import { deleteOrgSsoConfig } from '../../../commands/organizations/delete-org-sso-config.ts';
import { setRequireSso } from '../../../commands/organizations/set-require-sso.ts';
import { updateOrgSsoConfig } from '../../../commands/organizations/update-org-sso-config.ts';
import type { OrganizationEvent } from '../../../src/contexts/organizations/domain/events.ts';
import { DEFAULT_ISSUER_TRUST } from '../../../src/contexts/sso/domain/fields.ts';
import { context, given } from '../../dsl/given.ts';

const FIRST = '77777777-7777-4777-8777-777777777771';
const SECOND = '77777777-7777-4777-8777-777777777772';
const SECRET = '88888888-8888-4888-8888-888888888888';
const NEW_SECRET = '99999999-9999-4999-8999-999999999999';

const there: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { name: 'North', slug: 'north', externalBaseUrl: 'https://c.example' },
};
const settings = {
  name: 'Okta',
  issuerUrl: 'https://idp.example',
  clientId: 'castellan',
  scopes: 'openid email profile',
  emailDomains: ['north.example'],
  ...DEFAULT_ISSUER_TRUST,
};
const config = (configId: string, isEnabled: boolean, clientSecretRef: string | null = SECRET): OrganizationEvent => ({
  type: 'OrgSsoConfigCreated',
  data: { configId, ...settings, clientSecretRef, isEnabled },
});
const required = (requireSso: boolean): OrganizationEvent => ({ type: 'OrgSsoRequirementSet', data: { requireSso } });

const reachable = { unreachable: async () => undefined };

describe('adding an SSO configuration', () => {
  const input = { configId: SECOND, ...settings, clientSecret: 'hush' };
  const facts = { clientSecretRef: SECRET };

  it('stores the secret by reference', () => {
    given(there)
      .when(createOrgSsoConfig, { ...input, isEnabled: true }, facts)
      .then(config(SECOND, true));
  });

  it('enables the first one unless told otherwise, and no second one by default', () => {
    given(there).when(createOrgSsoConfig, input, facts).then(config(SECOND, true));
    given(there)
      .when(createOrgSsoConfig, { ...input, isEnabled: false }, facts)
      .then(config(SECOND, false));
    given(there, config(FIRST, false)).when(createOrgSsoConfig, input, facts).then(config(SECOND, true));
    given(there, config(FIRST, true)).when(createOrgSsoConfig, input, facts).then(config(SECOND, false));
  });

  it('is refused if enabled beside another enabled one', () => {
    given(there, config(FIRST, true))
      .when(createOrgSsoConfig, { ...input, isEnabled: true }, facts)
      .thenRefused('conflict');
  });

  it('fails for an unknown organization', () => {
    given().when(createOrgSsoConfig, input, facts).thenRefused('notFound');
  });
});

describe('changing an SSO configuration', () => {
  const updated = (over: object): OrganizationEvent => ({
    type: 'OrgSsoConfigUpdated',
    data: { configId: FIRST, ...settings, clientSecretRef: SECRET, isEnabled: true, ...over },
  });
  const kept = { clientSecretRef: undefined };

  it('sends a stored client secret to no other issuer', () => {
    const moved = { configId: FIRST, issuerUrl: 'https://elsewhere.example' };
    given(there, config(FIRST, true))
      .when(updateOrgSsoConfig, moved, kept)
      .thenRefused('invalid', 'validation failed: clientSecret: is required where issuerUrl changes; null removes it');
    for (const clientSecretRef of [NEW_SECRET, null]) {
      given(there, config(FIRST, true))
        .when(updateOrgSsoConfig, moved, { clientSecretRef })
        .then(updated({ issuerUrl: 'https://elsewhere.example', clientSecretRef }));
    }
    given(there, config(FIRST, true, null))
      .when(updateOrgSsoConfig, moved, kept)
      .then(updated({ issuerUrl: 'https://elsewhere.example', clientSecretRef: null }));
  });

  it('keeps omitted fields, including the secret', () => {
    const outcome = given(there, config(FIRST, true)).when(
      updateOrgSsoConfig,
      { configId: FIRST, name: 'Entra' },
      kept,
    );
    outcome.then(updated({ name: 'Entra' }));
    outcome.thenForgets();
  });

  it('replaces or clears the secret and marks the former one as unused', () => {
    const replaced = given(there, config(FIRST, true)).when(
      updateOrgSsoConfig,
      { configId: FIRST, clientSecret: 'x' },
      { clientSecretRef: NEW_SECRET },
    );
    replaced.then(updated({ clientSecretRef: NEW_SECRET }));
    replaced.thenForgets(SECRET);
    const cleared = given(there, config(FIRST, true)).when(
      updateOrgSsoConfig,
      { configId: FIRST, clientSecret: null },
      { clientSecretRef: null },
    );
    cleared.then(updated({ clientSecretRef: null }));
    cleared.thenForgets(SECRET);
  });

  it('stores only a new secret in the vault', async () => {
    const put: unknown[] = [];
    const stored = { ssoConfigs: new Map([[FIRST, { configId: FIRST, ...settings, clientSecretRef: SECRET }]]) };
    const vault = {
      put: async (...stored: unknown[]) => (put.push(stored), NEW_SECRET),
      get: async () => undefined,
      forget: async () => undefined,
    };
    const ports = { vault, aggregates: { load: async () => stored as never }, destinations: reachable };
    const prepared = (clientSecret: string | null | undefined) =>
      updateOrgSsoConfig.prepare!({ configId: FIRST, clientSecret }, ports, context());
    expect(await prepared(undefined)).toEqual({ clientSecretRef: undefined });
    expect(await prepared(null)).toEqual({ clientSecretRef: null });
    expect(put).toEqual([]);
    expect(await prepared('hush')).toEqual({ clientSecretRef: NEW_SECRET });
    expect(put).toHaveLength(1);
  });

  it('is refused if it would enable a second one', () => {
    given(there, config(FIRST, true), config(SECOND, false))
      .when(updateOrgSsoConfig, { configId: SECOND, isEnabled: true }, kept)
      .thenRefused('conflict');
  });

  it('is refused if it would disable the last one while single sign-on is required', () => {
    const disable = { configId: FIRST, isEnabled: false };
    given(there, config(FIRST, true), required(true)).when(updateOrgSsoConfig, disable, kept).thenRefused('conflict');
    given(there, config(FIRST, true), required(true), required(false))
      .when(updateOrgSsoConfig, disable, kept)
      .then(updated({ isEnabled: false }));
  });

  it('fails for an unknown one', () => {
    given(there).when(updateOrgSsoConfig, { configId: FIRST }, kept).thenRefused('notFound');
  });
});

describe('removing an SSO configuration', () => {
  it('is refused for the last enabled one while single sign-on is required', () => {
    const history = [there, config(FIRST, true), config(SECOND, false), required(true)];
    given(...history)
      .when(deleteOrgSsoConfig, { configId: FIRST })
      .thenRefused('conflict');
    given(...history)
      .when(deleteOrgSsoConfig, { configId: SECOND })
      .thenTypes('OrgSsoConfigDeleted');
  });

  it('marks its secret as unused', () => {
    const outcome = given(there, config(FIRST, true)).when(deleteOrgSsoConfig, { configId: FIRST });
    outcome.then({ type: 'OrgSsoConfigDeleted', data: { configId: FIRST } });
    outcome.thenForgets(SECRET);
  });

  it('fails for one that was removed', () => {
    const deleted: OrganizationEvent = { type: 'OrgSsoConfigDeleted', data: { configId: FIRST } };
    given(there, config(FIRST, true), deleted).when(deleteOrgSsoConfig, { configId: FIRST }).thenRefused('notFound');
  });
});

describe('requiring single sign-on', () => {
  it('needs an enabled configuration', () => {
    given(there, config(FIRST, false)).when(setRequireSso, { requireSso: true }).thenRefused('invalid');
    given(there, config(FIRST, true)).when(setRequireSso, { requireSso: true }).then(required(true));
  });

  it('can always be reverted', () => {
    given(there, config(FIRST, true), required(true)).when(setRequireSso, { requireSso: false }).then(required(false));
  });

  it('has no effect the second time', () => {
    given(there, config(FIRST, true), required(true)).when(setRequireSso, { requireSso: true }).thenNothing();
    given(there).when(setRequireSso, { requireSso: false }).thenNothing();
  });
});
