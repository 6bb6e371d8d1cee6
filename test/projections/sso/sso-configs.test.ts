import { expect, it } from 'vitest';
import { ssoConfigsModel } from '../../../projections/sso/sso-configs.ts';
import type { SsoEvent } from '../../../src/contexts/sso/domain/events.ts';
import { DEFAULT_ISSUER_TRUST } from '../../../src/contexts/sso/domain/fields.ts';
import { NOW, recorded, rowsAfter } from '../../dsl/given.ts';

const CONFIG = '77777777-7777-4777-8777-777777777771';
const SECRET = '88888888-8888-4888-8888-888888888888';
const at = (n: number) => new Date(NOW + n * 1_000).toISOString();
const settings = {
  protocol: 'oidc',
  name: 'Okta',
  isEnabled: true,
  emailDomains: [],
  issuerUrl: 'https://idp.example',
  clientId: 'c',
  scopes: 'openid',
  ...DEFAULT_ISSUER_TRUST,
} as const;
const created: SsoEvent = {
  type: 'SsoConfigCreated',
  data: { ...settings, emailDomains: [], configId: CONFIG, secretRef: SECRET },
};
const after = (...events: SsoEvent[]) =>
  rowsAfter(
    ssoConfigsModel,
    events.map((event, index) => recorded(event, index + 1)),
    1,
  );

it("shows the public fields of a tenant's configurations, and that there is a secret, but not where", () => {
  const rows = after(created);
  expect(rows).toMatchObject([
    { config_id: CONFIG, protocol: 'oidc', settings, secret_configured: true, created_at: at(1), updated_at: at(1) },
  ]);
  expect(JSON.stringify(rows)).not.toContain(SECRET);
  const changed: SsoEvent = {
    type: 'SsoConfigUpdated',
    data: { ...settings, name: 'Entra', emailDomains: [], configId: CONFIG, secretRef: null },
  };
  expect(after(created, changed)).toMatchObject([
    { settings: { name: 'Entra' }, secret_configured: false, created_at: at(1), updated_at: at(2) },
  ]);
  expect(after(created, { type: 'SsoConfigDeleted', data: { configId: CONFIG } })).toEqual([]);
});
