import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { TestApp, TestResponse } from './app.ts';
import { logoutToken, type LogoutTokenIssuer } from './logout-token.ts';
import { newOrganization } from './organization.ts';
import { returnsFromProvider, startsSignIn } from './sso-browser.ts';

export const HOME = 'https://castellan.example';

/** A tenant or an organization with an OpenID Connect provider. */
export interface SsoOwner {
  readonly email: string;
  readonly routes: string;
  readonly loginPath: string;
  readonly logoutUri: string;
  change(over: object): Promise<unknown>;
  remove(): Promise<unknown>;
  refusals(): Promise<string[]>;
}
type Write = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => Promise<TestResponse>;

export async function ssoOwner(
  app: TestApp,
  provider: LogoutTokenIssuer,
  kind: 'tenant' | 'organization',
  over: object = {},
): Promise<SsoOwner> {
  const { email, routes, loginPath, configs, write, auditLog } = await newOwner(app, kind);
  const config = {
    issuerUrl: provider.issuer,
    clientId: provider.clientId,
    clientSecret: 'hush',
    emailDomains: [email.split('@')[1]],
    ...over,
  };
  const { status, body } = await write('POST', configs, config);
  expect(status).toBe(201);
  const path = `${configs}/${body.id as string}`;
  const written = async (...call: Parameters<Write>) => expect((await write(...call)).status).toBeLessThan(300);
  return {
    email,
    routes,
    loginPath,
    logoutUri: body.backchannelLogoutUri as string,
    change: (changed) => written('PUT', path, changed),
    remove: () => written('DELETE', path),
    refusals: async () => {
      await app.settled();
      const { auditLogs } = (await auditLog()).body as {
        auditLogs: { details: { reason: string; detail: string | null } }[];
      };
      return auditLogs.map(({ details: { reason, detail } }) => `${reason}: ${detail}`);
    },
  };
}

async function newOwner(app: TestApp, kind: 'tenant' | 'organization') {
  if (kind === 'tenant') {
    const { tenantId, email, admin } = await app.newTenant();
    const write: Write = (method, path, body) => admin.send(method, path, { body });
    return {
      email,
      routes: '/api/v1/auth/sso',
      loginPath: `/api/v1/auth/sso/login?tenant_id=${tenantId}`,
      configs: '/api/v1/admin/sso-configs',
      write,
      auditLog: () => admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused'),
    };
  }
  const { email, slug, owner, write } = await newOrganization(app, undefined, HOME);
  const routes = '/api/v1/org/auth/sso';
  return {
    email,
    routes,
    loginPath: `${routes}/login?slug=${slug}`,
    configs: '/api/v1/org/sso-configs',
    write: write as Write,
    auditLog: () => owner.get('/api/v1/org/audit-log?action=sso.sign_in_refused'),
  };
}

export interface PageSignIn {
  readonly nonce: string;
  /** The parameters with which the sign-in page is opened again. */
  callback(): Promise<URLSearchParams>;
  exchange(parameters: URLSearchParams, verifier?: string): Promise<TestResponse>;
}

/** A sign-in that began on the sign-in page, up to the redirect of the provider. */
export async function startsOnPage(app: TestApp, { loginPath, routes }: SsoOwner): Promise<PageSignIn> {
  const own = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(own).digest('base64url');
  const { nonce, cookie, state } = await startsSignIn(
    app.anonymous,
    `${loginPath}&return_to=login&challenge=${challenge}`,
  );
  return {
    nonce,
    callback: async () => {
      const back = await returnsFromProvider(app.anonymous, `${routes}/callback`, { code: 'c', state }, cookie);
      return new URL(back.headers.get('location')!, HOME).searchParams;
    },
    exchange: (parameters, verifier = own) =>
      app.anonymous.post(`${routes}/exchange`, {
        code: parameters.get('sso_code') ?? parameters.get('org_sso_code'),
        verifier,
      }),
  };
}

/** A logout token of the provider arrives. */
export async function logsOutAtProvider(
  app: TestApp,
  owner: SsoOwner,
  provider: LogoutTokenIssuer,
  about: { readonly sub?: string; readonly sid?: string },
  claims: Record<string, unknown> = {},
): Promise<void> {
  const { status } = await postsLogoutToken(app, owner, logoutToken(provider, about, { claims }));
  expect(status).toBe(200);
}

export const postsLogoutToken = (app: TestApp, { logoutUri }: SsoOwner, token: string): Promise<TestResponse> =>
  app.anonymous.send('POST', logoutUri.slice(HOME.length), {
    raw: new URLSearchParams({ logout_token: token }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
