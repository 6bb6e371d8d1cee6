import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DirectoryHttp } from '../../../../src/contexts/directory-sources/http/directory-http.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { GRAPH, OKTA_TOKEN, startGraph, startOkta, type DirectoryPeer } from '../../../dsl/directory-peers.ts';

const BASE = '/api/v1/admin/directory-sources';

/** What administrators meet who copied a little too much, or whose directory limits requests. */
describe('the settings of a directory source', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let graph: DirectoryPeer;
  let okta: DirectoryPeer;
  beforeAll(async () => {
    app = await startApp({ devMode: true });
    tenant = await app.newTenant();
    [graph, okta] = [await startGraph({ people: [], groups: [] }), await startOkta({ people: [], groups: [] })];
  });
  afterAll(() => Promise.all([app.close(), graph.close(), okta.close()]));

  const entra = (over: object = {}) => ({
    name: 'Company',
    type: 'entra_id',
    config: { ...GRAPH, loginUrl: graph.url, graphUrl: graph.url, ...over },
  });
  const oktaSource = (apiToken: string) => ({ name: 'Okta', type: 'okta', config: { orgUrl: okta.url, apiToken } });
  const tested = async (source: object) => {
    const { body } = await tenant.admin.post(BASE, source);
    return (await tenant.admin.post(`${BASE}/${body.id}/test`, {})).body;
  };

  it('take a copied secret without the blanks and the line break around it', async () => {
    const readable = { success: true, message: 'the directory can be read' };
    expect(await tested(entra({ clientSecret: ` ${GRAPH.clientSecret}\n` }))).toEqual(readable);
    expect(await tested(oktaSource(`\t${OKTA_TOKEN} \r\n`))).toEqual(readable);
  });

  it('do not take a token that no header can hold', async () => {
    for (const token of ['two words', 'two\nlines', 'tokèn']) {
      const { status, body } = await tenant.admin.post(BASE, oktaSource(token));
      expect([status, body.fields]).toEqual([
        400,
        [{ field: 'config.apiToken', message: 'must be one word of printable ASCII characters' }],
      ]);
    }
  });

  it('name the types that there are', async () => {
    const { body } = await tenant.admin.post(BASE, { ...entra(), type: 'entra' });
    expect(body.fields).toEqual([
      { field: 'type', message: 'must be one of ldap, active_directory, entra_id, google_workspace, okta' },
    ]);
  });

  it('are tested without long pauses, and a directory that limits requests is not called unreachable', async () => {
    const asked: string[] = [];
    okta.misbehave((url, response) => {
      asked.push(url.pathname);
      const reset = String(Math.ceil(Date.now() / 1_000) + 40);
      response.writeHead(429, { 'x-rate-limit-reset': reset }).end('{}');
      return true;
    });
    const asksForPatience = { success: false, message: 'the directory asks to come back later' };
    expect(await tested(oktaSource(OKTA_TOKEN))).toEqual(asksForPatience);
    expect(asked).toHaveLength(1);
    okta.misbehave();
  });
});

describe('a call of a directory', () => {
  const responses = (...statuses: readonly number[]) => {
    const left = [...statuses];
    return async () => new Response('{}', { status: left.shift() ?? 200, headers: { 'retry-after': '3' } });
  };
  const call = (fetch: ReturnType<typeof responses>, callTimeoutMs?: number) => {
    const pauses: number[] = [];
    const wait = async (ms: number) => void pauses.push(ms);
    const http = new DirectoryHttp({
      fetch,
      origin: 'https://directory.example',
      authorize: async () => 'x',
      callTimeoutMs,
      wait,
    });
    return { got: http.get('https://directory.example/users'), pauses };
  };

  it('pauses as the directory wants, as long as its attempts last', async () => {
    const { got, pauses } = call(responses(429, 503, 429));
    await got;
    expect(pauses).toEqual([3_000, 3_000, 3_000]);
    await expect(call(responses(...Array<number>(9).fill(429))).got).rejects.toThrow('asks to come back later');
    await expect(call(responses(...Array<number>(9).fill(503))).got).rejects.toThrow('cannot be reached');
  });

  it('waits for no further response once somebody has waited long enough', async () => {
    let asked = 0;
    const silent = async () => {
      asked += 1;
      await new Promise((resolve) => setTimeout(resolve, 60));
      throw new Error('timeout');
    };
    const http = new DirectoryHttp({
      fetch: silent,
      origin: 'https://directory.example',
      authorize: async () => 'x',
      callTimeoutMs: 540,
      wait: async () => undefined,
    });
    await expect(http.get('https://directory.example/users')).rejects.toThrow('cannot be reached');
    expect(asked).toBe(1);
  });

  it.each([
    ['with a reason', { error: { code: 403, errors: [{ domain: 'usageLimits', reason: 'userRateLimitExceeded' }] } }],
    ['with a status', { error: { code: 403, status: 'RESOURCE_EXHAUSTED' } }],
  ])('is repeated when Google limits requests by 403 %s', async (_title, body) => {
    const replies = [new Response(JSON.stringify(body), { status: 403 }), new Response('{}')];
    const http = new DirectoryHttp({
      fetch: async () => replies.shift()!,
      origin: 'https://directory.example',
      authorize: async () => 'x',
      wait: async () => undefined,
    });
    expect((await http.get('https://directory.example/users')).body).toEqual({});
    const refused = new DirectoryHttp({
      fetch: async () => new Response('{"error":{"errors":[{"reason":"forbidden"}]}}', { status: 403 }),
      origin: 'https://directory.example',
      authorize: async () => 'x',
    });
    await expect(refused.get('https://directory.example/users')).rejects.toThrow('lack a permission');
  });

  it('pauses no longer in all than somebody waits', async () => {
    const { got, pauses } = call(responses(429, 503, 429), 7_000);
    await expect(got).rejects.toThrow('the directory asks to come back later');
    expect(pauses).toEqual([3_000, 3_000]);
    await expect(call(responses(503, 503), 2_000).got).rejects.toThrow('the directory cannot be reached');
  });
});
