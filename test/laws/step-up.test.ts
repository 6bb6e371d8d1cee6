import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Permission } from '../../src/contexts/identity/domain/permissions.ts';
import type { AnyRoute } from '../../src/app/http/route.ts';
import { sharedApp, type Client, type TestApp } from '../dsl/app.ts';
import { everyRoute, named, pathWith } from './every-route.ts';
import { ALWAYS, STEP_UP_BY_PERMISSION, STEP_UP_EXCEPTIONS } from './step-up.ts';

const writes = everyRoute.filter(({ access, method }) => access.kind === 'admin' && method !== 'GET');
const cases = writes.map((route) => [named(route), route] as const);

const declared = ({ access }: AnyRoute<never>) =>
  access.kind !== 'admin' ? 'never' : access.reauth ? 'always' : access.reauthWhere ? 'where' : 'never';
function expected(route: AnyRoute<never>): 'always' | 'where' | 'never' {
  const exception = STEP_UP_EXCEPTIONS[named(route)];
  if (exception) return exception.stepUp;
  const rule = STEP_UP_BY_PERMISSION[(route.access as { permission: Permission }).permission];
  if (rule === undefined)
    throw new Error(
      `${named(route)}: state in test/laws/step-up.ts whether it needs a re-authentication token, or why not`,
    );
  return rule === ALWAYS ? 'always' : 'never';
}

describe('a change of who controls an account', () => {
  let app: TestApp;
  let admin: Client;
  let document: {
    paths: Record<
      string,
      Record<
        string,
        {
          parameters: { name: string; in: string; required: boolean }[];
          responses: Record<string, unknown>;
          security: Record<string, unknown>[];
        }
      >
    >;
  };
  beforeAll(async () => {
    app = await sharedApp();
    admin = app.as((await app.newTenant()).token);
    document = (await app.anonymous.get('/openapi.json')).body;
  });
  afterAll(() => app.close());

  it.each(cases)('%s is declared as the table says', (_name, route) => {
    expect(
      declared(route),
      'the declaration of the route (or the `watch` of its resource) and test/laws/step-up.ts differ: a route that differs from its permission belongs under STEP_UP_EXCEPTIONS there',
    ).toBe(expected(route));
  });

  it.each(cases)('%s requires re-authentication exactly where it always needs it', async (_name, route) => {
    const { status, body } = await admin.send(route.method, pathWith(route, randomUUID()));
    if (declared(route) === 'always') expect([status, body.error]).toEqual([403, 're-authentication required']);
    else expect(body?.error).not.toBe('re-authentication required');
  });

  it.each(cases)('%s documents this', (_name, route) => {
    const operation = document.paths[route.path]![route.method.toLowerCase()]!;
    const header = operation.parameters.find(({ name }) => name === 'X-ReAuth-Token');
    const kind = declared(route);
    expect([header?.in, header?.required]).toEqual(
      kind === 'never' ? [undefined, undefined] : ['header', kind === 'always'],
    );
    if (kind !== 'never') expect(Object.keys(operation.responses)).toContain('403');
    expect(operation.security.some((way) => 'reAuthToken' in way)).toBe(kind !== 'never');
  });

  it('has no line in the table for a route or permission that does not exist', () => {
    const known = new Set(writes.map(named));
    expect(Object.keys(STEP_UP_EXCEPTIONS).filter((name) => !known.has(name))).toEqual([]);
    const permissions = new Set(writes.map(({ access }) => (access as { permission: string }).permission));
    expect(Object.keys(STEP_UP_BY_PERMISSION).filter((permission) => !permissions.has(permission))).toEqual([]);
  });
});
