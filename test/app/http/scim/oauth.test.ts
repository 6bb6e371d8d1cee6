import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../../../src/app/compose/compose.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { httpClient, startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { askForToken, basic, form, newScimClient, type TestScimClient } from '../../../dsl/scim.ts';

describe('OAuth 2.0 client credentials', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let client: TestScimClient;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
    client = await newScimClient(tenant);
  });
  afterAll(() => app.close());

  const credentials = () => ({ clientId: client.clientId, clientSecret: client.clientSecret });
  const introspect = (token: string, by = credentials()) => app.anonymous.post('/oauth/introspect', { token, ...by });
  const tokenOf = async (of = client) => (await askForToken(app, of)).body.accessToken as string;

  it('F252, F255, F256, OP-219: JSON in camelCase, all scopes of the client without a scope', async () => {
    const { status, headers, body } = await askForToken(app, client);
    expect([status, body]).toEqual([
      200,
      { accessToken: expect.any(String), tokenType: 'Bearer', expiresIn: 3600, scope: 'scim:read scim:write' },
    ]);
    // RFC 6749 §5.1
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });

  it('F252, OP-217: a form in snake_case also gets the names of RFC 6749', async () => {
    const { clientId, clientSecret } = client;
    const asked = form({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope: 'scim:read',
    });
    const { status, body } = await app.anonymous.send('POST', '/oauth/token', asked);
    expect(status).toBe(200);
    expect(body).toEqual({
      accessToken: body.access_token,
      tokenType: 'Bearer',
      expiresIn: 3600,
      scope: 'scim:read',
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
    });
  });

  it('RFC 6749 §2.3.1: HTTP Basic', async () => {
    const asked = form({ grant_type: 'client_credentials' });
    const { status } = await app.anonymous.send('POST', '/oauth/token', {
      ...asked,
      headers: { ...asked.headers, authorization: basic(client) },
    });
    expect(status).toBe(200);
  });

  it.each([
    ['F261: a wrong secret', { clientSecret: 'wrong' }, 401, 'invalid_client'],
    ['F261: an unknown client', { clientId: 'nonsense' }, 401, 'invalid_client'],
    ['F261: no secret', { clientSecret: '' }, 401, 'invalid_client'],
    ['F253: another grant', { grantType: 'password' }, 400, 'unsupported_grant_type'],
    ['no grant', { grantType: undefined }, 400, 'invalid_request'],
    ['F254: an unknown scope', { scope: 'scim:read admin' }, 400, 'invalid_scope'],
    ['a value of another type', { scope: 7 }, 400, 'invalid_request'],
  ])('RFC 6749 §5.2: %s', async (_what, over, status, error) => {
    const refused = await askForToken(app, client, over);
    expect([refused.status, refused.body]).toEqual([
      status,
      { error, errorDescription: expect.any(String), error_description: refused.body.errorDescription },
    ]);
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(refused.headers.get('www-authenticate')).toBe(
      status === 401 ? 'Basic realm="castellan", charset="UTF-8"' : null,
    );
  });

  it.each([
    ['a parameter twice (§3.2)', 'grant_type=client_credentials&scope=scim:read&scope=scim:write', 'invalid_request'],
    ['a parameter without a value is omitted (§3.2)', 'grant_type=', 'invalid_request'],
    ['another secret in the body (§2.3)', 'grant_type=client_credentials&client_secret=x', 'invalid_request'],
    ['another client in the body (§2.3)', 'grant_type=client_credentials&client_id=x', 'invalid_request'],
  ])('RFC 6749: %s', async (_what, raw, error) => {
    const refused = await app.anonymous.send('POST', '/oauth/token', {
      raw,
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: basic(client) },
    });
    expect([refused.status, refused.body.error]).toEqual([400, error]);
    expect(refused.body.error_description).toBe(refused.body.errorDescription);
  });

  it.each(['Basic !', 'Basic', `Basic ${Buffer.from('no colon').toString('base64')}`, 'Basic JTpw', 'Digest x'])(
    'refuses the header %j',
    async (authorization) => {
      const refused = await app.anonymous.post(
        '/oauth/token',
        { grantType: 'client_credentials' },
        { headers: { authorization } },
      );
      expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client']);
    },
  );

  it('keeps the shape of its errors for what the framework refuses', async () => {
    for (const [raw, type, status] of [
      ['{', 'application/json', 400],
      ['<a/>', 'application/xml', 415],
      [`{"scope":"${'x'.repeat(1_100_000)}"}`, 'application/json', 413],
    ] as const)
      for (const path of ['/oauth/token', '/oauth/introspect', '/oauth/revoke']) {
        const refused = await app.anonymous.send('POST', path, { raw, headers: { 'content-type': type } });
        expect([path, refused.status, refused.body]).toEqual([
          path,
          status,
          {
            error: 'invalid_request',
            errorDescription: expect.any(String),
            error_description: refused.body.errorDescription,
          },
        ]);
      }
  });

  it('says of a wrong media type which ones are right', async () => {
    const { body } = await app.anonymous.send('POST', '/oauth/token', {
      raw: '<a/>',
      headers: { 'content-type': 'text/plain' },
    });
    expect(body.error_description).toBe(
      'unsupported media type: Content-Type must be application/json or application/x-www-form-urlencoded, in UTF-8',
    );
  });

  it('keeps every refusal out of caches of HTTP/1.0, too, and names the parameter of the form', async () => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const [path, raw, headers, description] of [
      ['/oauth/token', '', type, 'grant_type is required'],
      ['/oauth/token', 'scope=a&scope=b', type, 'validation failed: scope: must be given once'],
      ['/oauth/token', '<a/>', { 'content-type': 'text/xml' }, expect.stringContaining('unsupported')],
      ['/oauth/introspect', 'token=%00', type, 'validation failed: token: must not contain NUL'],
      ['/oauth/revoke', 'x'.repeat(140_000), type, 'payload too large'],
    ] as const) {
      const { headers: sent, body } = await app.anonymous.send('POST', path, { raw, headers });
      expect([path, body.error_description, sent.get('pragma')]).toEqual([path, description, 'no-cache']);
    }
  });

  it('F257: introspection shows scope, client and expiry', async () => {
    const token = await tokenOf();
    const { status, body } = await introspect(token);
    expect([status, body]).toEqual([
      200,
      {
        active: true,
        scope: 'scim:read scim:write',
        clientId: client.clientId,
        tokenType: 'Bearer',
        exp: expect.any(Number),
      },
    ]);
    expect(Math.abs(body.exp - Date.now() / 1000 - 3600)).toBeLessThan(60);
    const asked = form({ token });
    const byForm = await app.anonymous.send('POST', '/oauth/introspect', {
      ...asked,
      headers: { ...asked.headers, authorization: basic(client) },
    });
    expect(byForm.body).toMatchObject({ active: true, client_id: client.clientId, token_type: 'Bearer' });
  });

  it('F259, RFC 7662 §2.2: nothing is said about an unknown token, or that of another client', async () => {
    const other = await newScimClient(await app.newTenant());
    const neighbour = await newScimClient(tenant);
    for (const token of ['nonsense', await tokenOf(other), await tokenOf(neighbour), `${await tokenOf()}x`]) {
      const { status, body } = await introspect(token);
      expect([status, body]).toEqual([200, { active: false }]);
    }
  });

  it('OP-218: introspection and revocation need a client, and a token', async () => {
    for (const path of ['/oauth/introspect', '/oauth/revoke']) {
      const unproved = await app.anonymous.post(path, { token: await tokenOf() });
      expect([unproved.status, unproved.body.error]).toEqual([401, 'invalid_client']);
      const empty = await app.anonymous.post(path, credentials());
      expect([empty.status, empty.body.error]).toEqual([400, 'invalid_request']);
    }
  });

  it('F258: a revoked token is not active; RFC 7009 §2.2: 200 also for an unknown one', async () => {
    const token = await tokenOf();
    for (const each of [token, token, 'nonsense']) {
      const { status, body } = await app.anonymous.post('/oauth/revoke', {
        token: each,
        tokenTypeHint: 'access_token',
        ...credentials(),
      });
      expect([status, body]).toEqual([200, {}]);
    }
    expect((await introspect(token)).body).toEqual({ active: false });
  });

  it('OP-391: a token that is revoked, or whose client or secret goes, is dead on another process at once', async () => {
    const other = await compose(
      { ...app.config, role: 'api' },
      { database: app.services.database.config, log: newLogger('silent') },
    );
    try {
      const of = await newScimClient(tenant, { name: 'Two processes' });
      const { clientId, clientSecret } = of;
      const newToken = async () => (await askForToken(app, of)).body.accessToken as string;
      const seenBy = async (token: string) =>
        Promise.all(
          [app.url, other.addresses.http].map(
            async (url) =>
              (await httpClient(url, { authorization: `Bearer ${token}` }).get('/scim/v2/Users?count=0')).status,
          ),
        );
      const [revoked, kept] = [await newToken(), await newToken()];
      expect([await seenBy(revoked), await seenBy(kept)]).toEqual([
        [200, 200],
        [200, 200],
      ]);
      await app.anonymous.post('/oauth/revoke', { token: revoked, clientId, clientSecret });
      expect([await seenBy(revoked), await seenBy(kept)]).toEqual([
        [401, 401],
        [200, 200],
      ]);
      expect((await tenant.admin.delete(`/api/v1/admin/scim/clients/${of.clientId}`)).status).toBe(204);
      expect(await seenBy(kept)).toEqual([401, 401]);
    } finally {
      await other.stop();
    }
  });

  it('RFC 7009 §2.1: a client cannot revoke the token of another', async () => {
    const other = await newScimClient(await app.newTenant());
    const token = await tokenOf();
    const { clientId, clientSecret } = other;
    expect((await app.anonymous.post('/oauth/revoke', { token, clientId, clientSecret })).status).toBe(200);
    expect((await introspect(token)).body).toMatchObject({ active: true });
  });

  it('RFC 8414: describes itself', async () => {
    const { status, body } = await app.anonymous.get('/.well-known/oauth-authorization-server');
    expect([status, body]).toMatchObject([
      200,
      {
        issuer: 'https://castellan.example',
        token_endpoint: 'https://castellan.example/oauth/token',
        introspection_endpoint: 'https://castellan.example/oauth/introspect',
        revocation_endpoint: 'https://castellan.example/oauth/revoke',
        grant_types_supported: ['client_credentials'],
        scopes_supported: ['scim:read', 'scim:write'],
        response_types_supported: [],
      },
    ]);
  });

  it('holds neither secret nor token in the database', async () => {
    const token = await tokenOf();
    for (const table of ['scim_tokens', 'events', 'scim_clients', 'audit_log']) {
      const { rows } = await app.services.database.owner.query<{ row: string }>(
        `select t::text as row from ${table} t`,
      );
      const text = rows.map(({ row }) => row).join('\n');
      expect([table, text.includes(client.clientSecret), text.includes(token)]).toEqual([table, false, false]);
    }
  });

  it('keeps at most a hundred tokens of a client: the oldest end', async () => {
    const busy = await newScimClient(tenant);
    const first = await tokenOf(busy);
    for (let each = 0; each < 100; each += 1) await tokenOf(busy);
    const { clientId, clientSecret } = busy;
    expect((await introspect(first, { clientId, clientSecret })).body).toEqual({ active: false });
    const newest = await tokenOf(busy);
    expect((await introspect(newest, { clientId, clientSecret })).body).toMatchObject({ active: true });
  });
});

describe('the budget of the token route', () => {
  let app: TestApp;
  beforeAll(async () => void (app = await startApp({ rateBudgets: { oauth: 3 } })));
  afterAll(() => app.close());

  it('OP-211: refuses guesses with 429 in the shape of the protocol', async () => {
    const guess = () => askForToken(app, { clientId: 'a', clientSecret: 'b' });
    for (let each = 0; each < 3; each += 1) expect((await guess()).status).toBe(401);
    const refused = await guess();
    expect([refused.status, refused.body.error]).toEqual([429, 'temporarily_unavailable']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
