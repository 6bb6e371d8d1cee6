import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { areas } from '../../src/app/http/openapi/areas.ts';
import { openApiDocument } from '../../src/app/http/openapi/document.ts';
import { refusalCodesOf } from '../../src/app/http/openapi/refusals.ts';
import { rateClassOf } from '../../src/app/http/access.ts';
import type { AnyRoute } from '../../src/app/http/route.ts';
import { operationIdOf } from '../../src/app/http/openapi/operation-id.ts';
import { routeGroups } from '../../src/app/http/routes/index.ts';
import { everyRoute, named } from './every-route.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
  readonly description?: string;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly headers?: object } & object>>;
}
const { paths, components } = openApiDocument(routeGroups) as {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, { readonly 'x-codes'?: string[]; readonly headers?: object }>;
  };
};
const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
const sources = readdirSync('src/app/http', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.name.endsWith('.ts'))
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
const contentsOf = (operation: Operation): string => JSON.stringify(operation.responses);

/**
 * What a route must declare for the description of the API. All else follows from its access profile, schemas and path
 * (decision 0092).
 */
describe('the description of the API', () => {
  it('has every route', () => {
    expect(operations.length).toBe(everyRoute.length);
  });

  it('names every operation shortly, and no two alike: declare `operation` where the rule gives a poor name', () => {
    const ids = everyRoute.map((route) => [operationIdOf(route), named(route)] as const);
    const malformed = ids.filter(([id]) => !/^[a-z][A-Za-z0-9]{2,32}$/.test(id));
    expect(malformed).toEqual([]);
    const twice = ids.filter(([id], at) => ids.findIndex(([other]) => other === id) !== at);
    expect(twice).toEqual([]);
  });

  it('declares no `operation` that the rule gives anyway', () => {
    const needless = everyRoute
      .filter(({ operation, summary, path }) => operation === operationIdOf({ operation: undefined, summary, path }))
      // Those of a declared resource follow from its noun, which often equals the path.
      .filter(({ path }) => !/signatures|canary-cookies|whitelist|domain-scope/.test(path));
    expect(needless.map(named)).toEqual([]);
  });

  it('begins every summary with a verb, in one phrase without a full stop', () => {
    const other = everyRoute.filter(
      ({ summary }) => !/^[A-Z][a-z]+ .*[^.]$/.test(summary) || summary.includes('. ') || summary.length > 80,
    );
    expect(other.map((route) => [named(route), route.summary])).toEqual([]);
  });

  it('has a sentence about every area, in src/app/http/openapi/areas.ts', () => {
    const undescribed = routeGroups.filter(({ area }) => areas[area] === undefined).map(({ area }) => area);
    expect(undescribed).toEqual([]);
  });

  it('has the header of every condition that a response may refuse or confirm, and no other', () => {
    const wrong = operations.filter(({ parameters, responses }) => {
      const takes = (header: string) => parameters.some(({ name }) => name === header);
      return takes('If-None-Match') !== '304' in responses || takes('If-Match') !== '412' in responses;
    });
    expect(wrong.map(({ operationId }) => operationId)).toEqual([]);
    const untagged = everyRoute.filter(({ method, tagged, status, path }) => {
      const has = Object.keys(paths[path]![method.toLowerCase()]!.responses);
      return tagged !== undefined && status !== 201 && !has.includes(method === 'GET' ? '304' : '412');
    });
    expect(untagged.map(named)).toEqual([]);
  });

  it('describes every operation and every parameter, and gives each operation one tag', () => {
    for (const { operationId, description, tags, parameters } of operations) {
      expect([operationId, description.length > 20, tags.length]).toEqual([operationId, true, 1]);
      expect([operationId, parameters.filter((parameter) => !parameter.description)]).toEqual([operationId, []]);
    }
  });

  it('knows every header of ours that the code reads: declare those of a route in `takes`', () => {
    const described = new Set(
      operations
        .flatMap(({ parameters }) => parameters.filter((parameter) => parameter.in === 'header'))
        .map(({ name }) => name.toLowerCase()),
    );
    const elsewhere = new Set([
      // A security scheme of its own.
      'x-access-key',
      // About every request, as docs/reference/api-conventions.md says, or set by a proxy.
      'x-request-id',
      'x-forwarded-proto',
    ]);
    const read = sources.flatMap((text) =>
      [...text.matchAll(/headers\['(x-[a-z-]+|idempotency-key|if-[a-z-]+)'\]/g)].map(([, name]) => name!),
    );
    expect([...new Set(read)].filter((name) => !described.has(name) && !elsewhere.has(name))).toEqual([]);
  });

  it('says with which statuses an operation refuses: declare in `refuses` what its command adds', () => {
    for (const route of everyRoute) {
      const { responses } = paths[route.path]![route.method.toLowerCase()]!;
      const expected = [
        '400',
        ...(route.access.kind === 'open' ? [] : ['401']),
        ...(route.path.includes('{') ? ['404'] : []),
        ...(route.method === 'GET' ? [] : ['413', '415']),
        '429',
        '503',
        'default',
      ];
      expect([named(route), expected.filter((status) => !(status in responses))]).toEqual([named(route), []]);
    }
  });

  const headersOf = (route: (typeof everyRoute)[number], status: string): string[] => {
    const response = paths[route.path]![route.method.toLowerCase()]!.responses[status]!;
    const shown = response.$ref ? components.responses[response.$ref.split('/').at(-1)!]! : response;
    return Object.keys(shown.headers ?? {});
  };

  it('has the headers of every response, whatever its status: those of budgets where there is one', () => {
    for (const route of everyRoute) {
      const { responses } = paths[route.path]![route.method.toLowerCase()]!;
      const budget = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
      const usual = ['X-Request-ID', 'Cache-Control', ...(rateClassOf(route.access) === 'none' ? [] : budget)];
      for (const status of Object.keys(responses)) {
        const headers = headersOf(route, status);
        const missing = usual.filter((name) => !headers.includes(name));
        expect([named(route), status, missing]).toEqual([named(route), status, []]);
        if (status === '304') expect([named(route), headers]).toEqual([named(route), expect.arrayContaining(['ETag'])]);
      }
    }
    expect(
      headersOf(
        everyRoute.find(({ path }) => path === '/health')!,
        '200',
      ),
    ).not.toContain('X-RateLimit-Limit');
  });

  it('describes every form in which a caller can ask for a success: declare the others in `otherMedia`', () => {
    const several = everyRoute.filter(({ handle }) => /format === ["'](?:csv|json|zip)/.test(String(handle)));
    expect(several.length).toBeGreaterThanOrEqual(3);
    for (const route of several) {
      const { responses } = paths[route.path]![route.method.toLowerCase()]! as { responses: Record<string, object> };
      const { content = {} } = responses[String(route.status ?? 200)]! as { content?: object };
      expect([named(route), Object.keys(content).length]).toEqual([named(route), 2]);
    }
  });

  it('declares in `refuses` only what the rest of the declaration does not say', () => {
    const needless = everyRoute.flatMap(({ refuses = [], ...route }) => {
      const byRule = refusalCodesOf(route as typeof route & AnyRoute<never>);
      return refuses
        .filter((code) => byRule.includes(code))
        .map((code) => `${named(route as AnyRoute<never>)} ${code}`);
    });
    expect(needless).toEqual([]);
  });

  it('describes the body of errors where a protocol defines it: `refusal` comes with `refusalView`', () => {
    const without = everyRoute.filter(
      ({ refusal, refusalView }) => (refusal === undefined) !== (refusalView === undefined),
    );
    expect(without.map(named)).toEqual([]);
  });

  it('gives every JSON response and body a name, and every shape of a result one name', () => {
    for (const operation of operations)
      expect([operation.operationId, /"schema":\{"type":"object"/.test(contentsOf(operation))]).toEqual([
        operation.operationId,
        false,
      ]);
    const results = Object.entries(components.schemas).filter(([name]) => !/Request(?:[A-Z]|$)/.test(name));
    const shapes = results.map(([name, schema]) => [name, JSON.stringify(schema)] as const);
    const alike = shapes.filter(([, shape], at) => shapes.findIndex(([, other]) => other === shape) !== at);
    expect(alike.map(([name]) => name)).toEqual([]);
    // A number at the end of a name means that two shapes compete for it: declare `.meta({ title })` on a view.
    expect(Object.keys(components.schemas).filter((name) => /\d$/.test(name))).toEqual([]);
  });

  it('names lists by what they are: …Page if they are paginated, …List if not', () => {
    for (const [name, { properties = {} }] of Object.entries(components.schemas)) {
      const isPage = 'nextCursor' in properties || 'totalPages' in properties;
      if (name.endsWith('Page') || name.endsWith('List')) expect([name, isPage]).toEqual([name, name.endsWith('Page')]);
    }
    const lists = operations.filter(({ operationId }) => /^list[A-Z]/.test(operationId));
    for (const list of lists)
      expect([list.operationId, /(?:Page|List)"/.test(contentsOf(list))]).toEqual([list.operationId, true]);
  });
});
