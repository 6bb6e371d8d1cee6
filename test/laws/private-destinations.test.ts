import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Permission } from '../../src/contexts/identity/domain/permissions.ts';
import { permissionTable } from '../../src/contexts/identity/domain/permissions.ts';
import { startApp, type Client, type TestApp, type TestTenant } from '../dsl/app.ts';
import { everyRoute, named } from './every-route.ts';

const LISTED = '10.1.2.3';
const ELSEWHERE = '10.1.2.4';

interface PrivateResource {
  /** Creates it, or sets it up, with a private destination; returns the path of its `PUT`. */
  readonly setUp: (client: Client) => Promise<string>;
  readonly opts: readonly object[];
  readonly moves: readonly object[];
  /** Changes that any administrator may make. */
  readonly stays: readonly object[];
}

const settings = '/api/v1/admin/alert-notifications/settings';
const expectOk = async (answer: Promise<{ status: number; body: { id?: string } }>): Promise<string> => {
  const { status, body } = await answer;
  expect([200, 201]).toContain(status);
  return body.id ?? '';
};

/** What may be in a private network, by the route that changes it. */
const RESOURCES: Readonly<Record<string, PrivateResource>> = {
  'PUT /api/v1/admin/integrations/log-destinations/{destID}': {
    setUp: async (client) => {
      const path = '/api/v1/admin/integrations/log-destinations';
      const config = { url: `https://${LISTED}/in` };
      return `${path}/${await expectOk(client.post(path, { type: 'webhook', name: 'SIEM', config, allowPrivateNetwork: true }))}`;
    },
    opts: [],
    moves: [{ config: { url: `https://${ELSEWHERE}/in` } }, { config: { url: `https://${LISTED}:8443/in` } }],
    stays: [{ isEnabled: false }, { config: { url: 'https://siem.example/in' }, allowPrivateNetwork: false }],
  },
  'PUT /api/v1/admin/directory-sources/{sourceID}': {
    setUp: async (client) => {
      const path = '/api/v1/admin/directory-sources';
      const config = { host: LISTED, baseDn: 'dc=a', bindDn: 'cn=a', bindPassword: 'secret' };
      return `${path}/${await expectOk(client.post(path, { type: 'ldap', name: 'LDAP', config, allowPrivateNetwork: true }))}`;
    },
    opts: [],
    moves: [
      { config: { host: ELSEWHERE, bindPassword: 'secret' } },
      { config: { port: 3306, bindPassword: 'secret' } },
    ],
    stays: [{ name: 'Directory' }],
  },
  [`PUT ${settings}`]: {
    setUp: async (client) => {
      await expectOk(
        client.put(settings, {
          webhookUrl: `https://${LISTED}/hook`,
          webhookAllowPrivateNetwork: true,
          smtpHost: LISTED,
          smtpAllowPrivateNetwork: true,
        }),
      );
      return settings;
    },
    opts: [{ webhookAllowPrivateNetwork: true }, { smtpAllowPrivateNetwork: true }],
    moves: [{ webhookUrl: `https://${ELSEWHERE}/hook` }, { smtpHost: ELSEWHERE }, { smtpPort: 6379 }],
    stays: [{ minSeverity: 'high' }],
  },
};

const flagOf = (route: (typeof everyRoute)[number]): boolean =>
  route.access.kind === 'admin' &&
  route.body !== undefined &&
  /allowPrivateNetwork/i.test(JSON.stringify(z.toJSONSchema(route.body, { unrepresentable: 'any', io: 'input' })));
const isForOwners = ({ access }: (typeof everyRoute)[number]): boolean =>
  permissionTable[(access as { permission: Permission }).permission].every((role) => role === 'super_admin');

describe('a destination in a private network', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let admin: Client;
  beforeAll(async () => {
    const { privateNetworks } = await import('../../src/platform/outbound/private-networks.ts');
    app = await startApp({ outboundNetworks: privateNetworks(['10.1.2.0/24']) });
    tenant = await app.newTenant();
    ({ client: admin } = await app.adminWithRole(tenant, 'admin'));
  });
  afterAll(() => app.close());

  it('is declared here for every route that changes one, unless only super admins may', () => {
    const routes = everyRoute.filter((route) => route.method === 'PUT' && flagOf(route) && !isForOwners(route));
    expect(routes.map(named).sort()).toEqual(Object.keys(RESOURCES).sort());
  });

  it.each(Object.entries(RESOURCES))(
    '%s: is moved by a super admin only',
    async (_name, { setUp, opts, moves, stays }) => {
      for (const wanted of opts) expect((await admin.put(settings, wanted)).status).toBe(403);
      const path = await setUp(tenant.admin);
      for (const moved of moves) expect([moved, (await admin.put(path, moved)).status]).toEqual([moved, 403]);
      for (const stayed of stays) expect([stayed, (await admin.put(path, stayed)).status]).toEqual([stayed, 200]);
    },
  );
});
