import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Access } from '../../src/app/http/access.ts';
import { sharedApp, type Client, type TestApp } from '../dsl/app.ts';
import { newOrganization, orgAdminWithRole } from '../dsl/organization.ts';
import { everyRoute, named, pathWith } from './every-route.ts';
import { orgExceptions, orgRuleOf } from './organization-access.ts';

const orgRoutes = everyRoute.filter(({ access }) => access.kind === 'org');
const cases = orgRoutes.map((route) => [named(route), route] as const);
/** Every later case needs the session. */
const ENDS_OWN_SESSION = new Set(['DELETE /api/v1/org/me/sessions', 'POST /api/v1/org/auth/sso/logout']);
const ROLES = ['org_owner', 'org_admin', 'org_viewer'] as const;

describe('the organization API', () => {
  let app: TestApp;
  const clients = new Map<string, Client>();
  beforeAll(async () => {
    app = await sharedApp();
    const north = await newOrganization(app);
    for (const role of ROLES) clients.set(role, (await orgAdminWithRole(app, north, role)).client);
    await app.settled();
  });
  afterAll(() => app.close());

  it.each(cases)('%s is declared as the table says', (name, route) => {
    const { roles, reauth } = route.access as Extract<Access, { kind: 'org' }>;
    const rule = orgRuleOf(route.method, name);
    expect({ roles, reauth }).toEqual({ roles: rule.roles, reauth: rule.reauth });
  });

  it.each(cases)(
    '%s guards for every role, and requires re-authentication where the table says so',
    async (name, route) => {
      const { roles, reauth } = orgRuleOf(route.method, name);
      for (const role of ROLES) {
        // Users may end their own sessions, so the request names an id that does not exist.
        if (ENDS_OWN_SESSION.has(name)) continue;
        const { status, body } = await clients.get(role)!.send(route.method, pathWith(route, randomUUID()));
        if (roles !== 'any' && !roles.includes(role))
          expect([role, status, body?.error]).toEqual([role, 403, 'insufficient permissions']);
        else if (reauth) expect([role, status, body?.error]).toEqual([role, 403, 're-authentication required']);
        else expect([401, 403]).not.toContain(status);
      }
    },
  );

  it('has no line in the table for a route that does not exist', () => {
    const known = new Set(orgRoutes.map(named));
    expect(orgExceptions.filter((name) => !known.has(name))).toEqual([]);
  });
});
