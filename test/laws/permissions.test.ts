import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminRoles } from '../../src/contexts/identity/domain/roles.ts';
import { permissionTable, type Permission } from '../../src/contexts/identity/domain/permissions.ts';
import { sharedApp, type Client, type TestApp, type TestTenant } from '../dsl/app.ts';
import { rolesOfChoices } from './roles-of-choices.ts';
import { everyRoute, named, pathWith } from './every-route.ts';

const adminRoutes = everyRoute.filter(({ access }) => access.kind === 'admin');
const permissionOf = (route: (typeof adminRoutes)[number]) => (route.access as { permission: Permission }).permission;

describe('the permission table', () => {
  it.each(adminRoutes.map((route) => [named(route), route] as const))(
    'gives %s the roles of the requirements',
    (_name, route) => {
      expect(
        permissionTable[permissionOf(route)],
        `the route's permission and test/laws/roles-of-choices.ts differ; undefined: add a line for its address there`,
      ).toEqual(rolesOfChoices(route.method, route.path));
    },
  );

  let app: TestApp;
  let tenant: TestTenant;
  const clients = new Map<string, Client>();
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
    for (const role of adminRoles) clients.set(role, (await app.adminWithRole(tenant, role)).client);
  });
  afterAll(() => app.close());

  it.each(adminRoutes.map((route) => [named(route), route] as const))(
    'guards %s for every role',
    async (_name, route) => {
      for (const role of adminRoles) {
        const allowed = (permissionTable[permissionOf(route)] as readonly string[]).includes(role);
        // An id that does not exist, and no body: an admitted role gets 400, 404 or the like, but never 401 or 403.
        const { status, body } = await clients.get(role)!.send(route.method, pathWith(route, randomUUID()));
        if (allowed) expect([role, status, body?.error]).not.toEqual([role, 403, 'insufficient permissions']);
        else expect([role, status, body?.error]).toEqual([role, 403, 'insufficient permissions']);
        expect(status).not.toBe(401);
        expect(status).toBeLessThan(500);
      }
    },
  );

  it.each(everyRoute.filter(({ access }) => access.kind !== 'open').map((route) => [named(route), route] as const))(
    'rejects %s without a credential, with a broken one, and with one of another kind',
    async (_name, route) => {
      const path = pathWith(route, randomUUID());
      // In the middle of the signature: the last character may hold only padding bits.
      const [head, payload, signature] = tenant.token.split('.') as [string, string, string];
      const tampered = [head, payload, signature.replace(/^.{20}/, (start) => [...start].reverse().join(''))].join('.');
      const wrong = [
        app.anonymous,
        app.as('nonsense'),
        app.as(tampered),
        ...(route.access.kind === 'admin' ? [] : [tenant.admin]),
      ];
      for (const client of wrong) {
        const { status, body } = await client.send(route.method, path);
        expect([status, typeof body?.error]).toEqual([401, 'string']);
      }
    },
  );
});
