import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestResponse, type TestTenant } from '../../../dsl/app.ts';
import { startOpenIdProvider, type TestOpenIdProvider } from '../../../dsl/openid-provider.ts';
import { newOrganization, type TestOrganization } from '../../../dsl/organization.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';
import { returnsFromProvider, startsSignIn } from '../../../dsl/sso-browser.ts';

/** RFC 6749 §10.12, RFC 9700 §2.1 and §4.7, OpenID Connect Core §3.1.2: the two callbacks hold the same rules. */
const HOME = 'https://castellan.example';
const CALLBACKS = { tenant: '/api/v1/auth/sso/callback', organization: '/api/v1/org/auth/sso/callback' } as const;
type Kind = keyof typeof CALLBACKS;
const KINDS = Object.keys(CALLBACKS) as readonly Kind[];

let app: TestApp;
let provider: TestOpenIdProvider;
let tenants: readonly TestTenant[] = [];
let organizations: readonly TestOrganization[] = [];
beforeAll(async () => {
  app = await startApp({ devMode: true });
  provider = await startOpenIdProvider({ redirectUris: Object.values(CALLBACKS).map((path) => HOME + path) });
});
afterAll(async () => {
  await provider?.close();
  await app?.close();
});
beforeEach(async () => {
  const { issuer: issuerUrl, clientId, clientSecret } = provider;
  const config = { issuerUrl, clientId, clientSecret };
  tenants = await Promise.all([0, 1].map(() => app.newTenant({ externalBaseUrl: HOME })));
  organizations = [await newOrganization(app, undefined, HOME), await newOrganization(app, undefined, HOME)];
  for (const { admin } of tenants) expect((await admin.post('/api/v1/admin/sso-configs', config)).status).toBe(201);
  for (const { write } of organizations)
    expect((await write('POST', '/api/v1/org/sso-configs', config)).status).toBe(201);
});

const ownersOf = (kind: Kind) =>
  kind === 'tenant'
    ? tenants.map(({ tenantId, email }) => ({ id: tenantId, email, query: `tenant_id=${tenantId}` }))
    : organizations.map(({ organizationId, email, slug }) => ({ id: organizationId, email, query: `slug=${slug}` }));

/** A sign-in up to the provider's redirect: the next request would be the callback. */
async function untilCallback(kind: Kind, which = 0) {
  const { email, query } = ownersOf(kind)[which]!;
  provider.signsIn({ email });
  const started = await startsSignIn(app.anonymous, CALLBACKS[kind].replace('callback', `login?${query}`));
  return { ...started, back: new URLSearchParams((await provider.visit(started.address.href)).searchParams) };
}
const isAccepted = (kind: Kind, { status, headers }: TestResponse): boolean =>
  kind === 'tenant' ? status === 200 : (headers.get('location') ?? '').startsWith('/login?org_sso_code=');
/** A tenant's callback responds to programs with JSON; an organization's always with its sign-in page. */
const expectRefused = (kind: Kind, { status, headers, body }: TestResponse): void => {
  const shown =
    kind === 'tenant'
      ? [401, 'single sign-on failed: invalid_state', null]
      : [302, undefined, '/login?org_sso_error=invalid_state'];
  expect([status, body?.error, headers.get('location')]).toEqual(shown);
  expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
  expect(headers.getSetCookie()).toEqual([]);
};
const audited = async (kind: Kind, which = 0) => {
  const { rows } = await app.services.database.owner.query<{ data: { reason: string; detail: string } }>(
    `select data from events where tenant_id = $1 and type = 'SsoSignInRefused' order by position`,
    [ownersOf(kind)[which]!.id],
  );
  return rows.map(({ data: { reason, detail } }) => `${reason}: ${detail}`);
};
const sessions = async (kind: Kind) => {
  const { rows } = await app.services.database.owner.query<{ count: number }>(
    `select count(*)::int as count from events where tenant_id = $1 and type = 'SessionStarted' and data ->> 'method' in ('oidc', 'org_sso')`,
    [ownersOf(kind)[0]!.id],
  );
  return rows[0]!.count;
};

describe.each(KINDS)('the state of a callback to an OpenID Connect %s', (kind) => {
  const other = kind === 'tenant' ? 'organization' : 'tenant';
  const callback = CALLBACKS[kind];
  const arrive = (query: URLSearchParams | Record<string, string>, cookie: string) =>
    returnsFromProvider(app.anonymous, callback, query, cookie);
  const withState = (query: URLSearchParams, state: string) => {
    const changed = new URLSearchParams(query);
    changed.set('state', state);
    return changed;
  };

  it('is required: without it, or with two, nothing is redeemed, and the pending sign-in stays as it was', async () => {
    const { back, cookie, state } = await untilCallback(kind);
    const without = new URLSearchParams(back);
    without.delete('state');
    const twice = new URLSearchParams(back);
    twice.append('state', state);
    expect((await arrive(twice, cookie)).status).toBe(400);
    const refused = [without, withState(back, ''), withState(back, 'x'.repeat(600)), withState(back, 'a.b')];
    for (const query of refused) expectRefused(kind, await arrive(query, cookie));
    // An error of the provider names the sign-in that failed, too.
    expectRefused(kind, await arrive({ error: 'access_denied' }, cookie));
    expect(isAccepted(kind, await arrive(back, cookie))).toBe(true);
  });

  it('belongs to one owner, one kind of sign-in and one browser', async () => {
    const mine = await untilCallback(kind);
    const [, stranger] = ownersOf(kind);
    const foreign = Buffer.from(stranger!.id.replaceAll('-', ''), 'hex').toString('base64url');
    expectRefused(kind, await arrive(withState(mine.back, mine.state.replace(/^[^.]+/, foreign)), mine.cookie));
    expect(await audited(kind, 1)).toEqual(['invalid_state: unknown or used']);

    const elsewhere = await untilCallback(other);
    expectRefused(kind, await arrive(elsewhere.back, elsewhere.cookie));
    expect(await audited(other)).toEqual(['invalid_state: of another sign-in']);

    const theirs = await untilCallback(kind, 1);
    expectRefused(kind, await arrive(theirs.back, mine.cookie));
    // It was used up: not even its own browser can end that sign-in.
    expectRefused(kind, await arrive(theirs.back, theirs.cookie));
    expect((await audited(kind, 1)).slice(1)).toEqual([
      'invalid_state: another browser',
      'invalid_state: unknown or used',
    ]);
    expect(isAccepted(kind, await arrive(mine.back, mine.cookie))).toBe(true);
  });

  it('of SAML is of another sign-in, and that of OpenID Connect belongs to no SAML response', async () => {
    const { tenantId, admin } = tenants[1]!;
    const metadata = samlMetadata({ entityId: 'urn:example:saml', ssoUrl: 'https://idp.example/sso' });
    expect((await admin.post('/api/v1/admin/sso-configs/import', { metadata })).status).toBe(201);
    const { headers } = await app.anonymous.get(`/api/v1/auth/saml/login?tenant_id=${tenantId}`);
    const relayState = new URL(headers.get('location')!).searchParams.get('RelayState')!;
    expectRefused(kind, await arrive({ state: relayState, code: 'x' }, ''));
    const refusals = async () => {
      const { rows } = await app.services.database.owner.query<{ data: { protocol: string; detail: string } }>(
        `select data from events where tenant_id = any($1) and type = 'SsoSignInRefused' order by position`,
        [[tenantId, ownersOf(kind)[0]!.id]],
      );
      return rows.map(({ data: { protocol, detail } }) => `${protocol}: ${detail}`);
    };
    expect(await refusals()).toEqual(['oidc: of another sign-in']);

    const { state } = await untilCallback(kind);
    const posted = await app.anonymous.send('POST', '/api/v1/auth/saml/callback', {
      raw: new URLSearchParams({ SAMLResponse: 'PFI+', RelayState: state }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(posted.status).toBe(401);
    expect(await refusals()).toEqual(['oidc: of another sign-in', 'saml: not_requested']);
  });

  it('counts once', async () => {
    const { back, cookie } = await untilCallback(kind);
    const answers = await Promise.all(Array.from({ length: 20 }, () => arrive(back, cookie)));
    expect(answers.filter((answer) => isAccepted(kind, answer))).toHaveLength(1);
    expectRefused(kind, await arrive(back, cookie));
    expect(new Set(await audited(kind))).toEqual(new Set(['invalid_state: unknown or used']));
  });

  it('counts for ten minutes', async () => {
    const { back, cookie } = await untilCallback(kind);
    const { rows } = await app.services.database.owner.query<{ seconds: number }>(
      `with open as (select digest, extract(epoch from expires_at - now())::float8 as seconds from one_time_tokens
         where tenant_id = $1 and purpose = 'sso-state')
       update one_time_tokens t set expires_at = now() from open where t.digest = open.digest returning open.seconds`,
      [ownersOf(kind)[0]!.id],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.seconds).toBeLessThanOrEqual(600);
    expectRefused(kind, await arrive(back, cookie));
    expect(await audited(kind)).toEqual(['invalid_state: unknown or used']);
    expect(await sessions(kind)).toBe(0);
  });
});

it('a state that names a tenant without single sign-on leaves no trace there: anyone can name any tenant', async () => {
  const { tenantId } = await app.newTenant();
  const state = `${Buffer.from(tenantId.replaceAll('-', ''), 'hex').toString('base64url')}.${'x'.repeat(43)}`;
  const { status } = await returnsFromProvider(app.anonymous, CALLBACKS.tenant, { code: 'c', state }, '');
  expect(status).toBe(401);
  const { rows } = await app.services.database.owner.query(
    `select 1 from events where tenant_id = $1 and type = 'SsoSignInRefused'`,
    [tenantId],
  );
  expect(rows).toEqual([]);
});
