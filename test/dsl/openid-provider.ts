import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider, type Configuration } from 'oidc-provider';

export interface OpenIdPerson {
  readonly email: string;
  readonly emailVerified?: boolean;
}

export interface TestOpenIdProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The person at the next browser; undefined: a person who cancels at the sign-in form. */
  signsIn(person: OpenIdPerson | undefined): void;
  /** Follows a browser's redirects, with its cookies, and returns the final address. */
  visit(address: string): Promise<URL>;
  /** Logs the last visiting browser out, at this provider. */
  logsOut(): Promise<void>;
  /** Authorization requests that arrived. */
  readonly asked: readonly URLSearchParams[];
  close(): Promise<void>;
}

export interface OpenIdProviderOptions {
  readonly redirectUris: readonly string[];
  /** Only the userinfo endpoint returns the e-mail. */
  readonly quietIdToken?: boolean;
  /** Receives the provider's reports of logouts (OpenID Connect Back-Channel Logout 1.0). */
  readonly backchannelLogout?: (form: URLSearchParams) => Promise<number>;
  /** How the client authenticates. */
  readonly authentication?: 'client_secret_basic' | 'client_secret_post' | 'none';
}

/** A third-party OpenID Connect provider on this machine, whose sign-in form fills itself in. It requires PKCE. */
export async function startOpenIdProvider({
  redirectUris,
  quietIdToken = false,
  backchannelLogout,
  authentication = 'client_secret_basic',
}: OpenIdProviderOptions): Promise<TestOpenIdProvider> {
  let person: OpenIdPerson | undefined;
  let browser = new Map<string, string>();
  const people = new Map<string, OpenIdPerson>();
  const asked: URLSearchParams[] = [];
  const clientId = 'castellan';
  const clientSecret = randomBytes(32).toString('hex');

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const configuration: Configuration = {
    clients: [
      {
        client_id: clientId,
        ...(authentication === 'none' ? {} : { client_secret: clientSecret }),
        token_endpoint_auth_method: authentication,
        redirect_uris: [...redirectUris],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        ...(backchannelLogout
          ? { backchannel_logout_uri: 'https://client.example/', backchannel_logout_session_required: true }
          : {}),
      },
    ],
    clientAuthMethods: [authentication],
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: quietIdToken,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: true },
      backchannelLogout: { enabled: backchannelLogout !== undefined },
    },
    pkce: { required: () => true },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Interaction: 60, Session: 60, Grant: 60 },
    findAccount: (_context, id) => {
      const { email, emailVerified = true } = people.get(id) ?? { email: '' };
      return { accountId: id, claims: () => ({ sub: id, email, email_verified: emailVerified, name: 'Somebody' }) };
    },
    fetch: async (_url, init) =>
      new Response(null, { status: await backchannelLogout!(init?.body as URLSearchParams) }),
    // No consent is needed for one's own company's service.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session!.accountId! });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  };
  const provider = new Provider(issuer, configuration);
  const handle = provider.callback();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer);
    if (url.pathname === '/auth') asked.push(url.searchParams);
    if (!url.pathname.startsWith('/interaction/')) return void handle(request, response);
    if (!person)
      return provider.interactionFinished(request, response, {
        error: 'access_denied',
        error_description: 'they turned around',
      });
    const accountId = `subject-of-${person.email}`;
    people.set(accountId, person);
    await provider.interactionFinished(
      request,
      response,
      { login: { accountId, remember: false } },
      { mergeWithLastSubmission: false },
    );
  }

  return {
    issuer,
    clientId,
    clientSecret,
    asked,
    signsIn: (next) => {
      person = next;
    },
    visit: (address) => visit(address, issuer, (browser = new Map<string, string>())),
    logsOut: async () => {
      const asked = await navigate(new URL(`/session/end?client_id=${clientId}`, issuer), browser);
      const [, xsrf] = /name="xsrf" value="([^"]+)"/.exec(await asked.text()) ?? [];
      if (!xsrf) throw new Error(`the provider responded with ${asked.status} to a logout`);
      const body = new URLSearchParams({ xsrf, logout: 'yes' });
      await navigate(new URL('/session/end/confirm', issuer), browser, { method: 'POST', body });
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function navigate(address: URL, cookies: Map<string, string>, init: RequestInit = {}): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(address, { ...init, redirect: 'manual', headers: { cookie } });
  for (const set of answer.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
    cookies.set(name!, value!);
  }
  return answer;
}

async function visit(address: string, issuer: string, cookies: Map<string, string>): Promise<URL> {
  let next = new URL(address);
  for (let hops = 0; next.origin === issuer && hops < 10; hops += 1) {
    const answer = await navigate(next, cookies);
    const location = answer.headers.get('location');
    if (!location)
      throw new Error(
        `the provider responded with ${answer.status} at ${next.pathname}: ${(await answer.text()).slice(0, 500)}`,
      );
    next = new URL(location, next);
  }
  return next;
}
