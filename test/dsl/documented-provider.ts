import { createHash, createPublicKey, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { DocumentedProvider } from './documented-providers.ts';
import { rsaKey } from './rsa-keys.ts';

export interface RunningProvider {
  readonly issuer: string;
  readonly clientId: string;
  signsIn(email: string): void;
  /** The address that the provider sends the browser back to. */
  authorize(address: URL): Promise<URL>;
  /** The same after a logout; throws if the provider refuses it. */
  logOut(address: URL): Promise<URL>;
  close(): Promise<void>;
}

export interface Registration {
  readonly redirectUri: string;
  readonly postLogoutRedirectUri: string;
  /** Serves over TLS with this certificate. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A provider as its vendor documents it. It checks what that one checks: the client, its addresses, PKCE, the secret. */
export async function runDocumentedProvider(
  profile: DocumentedProvider,
  { redirectUri, postLogoutRedirectUri, tls }: Registration,
): Promise<RunningProvider> {
  const clientId = 'castellan';
  const key = rsaKey();
  const publicKey = { ...createPublicKey(key).export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' };
  const codes = new Map<string, URLSearchParams>();
  const issued = new Set<string>();
  let email = '';
  let origin = '';
  const issuer = () => origin + profile.path;

  const idTokenFor = (nonce: string | null): string => {
    const now = Math.floor(Date.now() / 1000);
    const always = { iss: issuer(), sub: 'subject-1', aud: clientId, iat: now, exp: now + 3_600, nonce };
    const input = `${encoded({ alg: 'RS256', kid: 'k1', typ: 'JWT' })}.${encoded({ ...always, ...profile.idToken(email, clientId) })}`;
    const token = `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`;
    issued.add(token);
    return token;
  };

  const discovery = () => ({
    issuer: issuer(),
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/keys`,
    ...(profile.userinfo ? { userinfo_endpoint: `${origin}/userinfo` } : {}),
    ...(profile.logout ? { end_session_endpoint: `${origin}/logout` } : {}),
    ...(profile.authentication ? { token_endpoint_auth_methods_supported: profile.authentication } : {}),
    ...(profile.returnsIssuer ? { authorization_response_iss_parameter_supported: true } : {}),
    response_types_supported: ['code'],
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: ['RS256'],
    ...profile.discovery,
  });

  function presentsSecret({ headers }: IncomingMessage, form: URLSearchParams): boolean {
    const [scheme, credentials = ''] = (headers.authorization ?? '').split(' ');
    if (scheme === 'Basic') {
      const [id = '', secret = ''] = Buffer.from(credentials, 'base64').toString().split(':');
      const read = profile.comparesRaw ? (text: string) => text : decodeURIComponent;
      return read(id) === clientId && read(secret) === profile.clientSecret;
    }
    const takesForm = profile.authentication?.includes('client_secret_post') ?? false;
    return takesForm && form.get('client_id') === clientId && form.get('client_secret') === profile.clientSecret;
  }

  const listener: RequestListener = (request, response) => {
    const json = (status: number, body: object, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      switch (new URL(request.url!, origin).pathname) {
        case `${profile.path.replace(/\/$/, '')}/.well-known/openid-configuration`:
          return json(200, discovery());
        case '/keys':
          return json(200, { keys: [publicKey] });
        case '/userinfo':
          return json(200, { sub: 'subject-1', ...profile.userinfo!(email) });
        case '/token': {
          const { status, body, challenge } = profile.wrongSecret;
          if (!presentsSecret(request, form))
            return json(status, body, challenge ? { 'www-authenticate': challenge } : {});
          const asked = codes.get(form.get('code') ?? '');
          codes.delete(form.get('code') ?? '');
          const verified = createHash('sha256')
            .update(form.get('code_verifier') ?? '')
            .digest('base64url');
          if (asked?.get('code_challenge') !== verified || form.get('redirect_uri') !== redirectUri)
            return json(400, { error: 'invalid_grant' });
          const tokens = { access_token: 'opaque', token_type: 'Bearer', expires_in: 3_600 };
          return json(200, { ...tokens, id_token: idTokenFor(asked.get('nonce')) });
        }
        default:
          return json(404, {});
      }
    });
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    issuer: issuer(),
    clientId,
    signsIn: (next) => {
      email = next;
    },
    async authorize(address) {
      const { searchParams: asked } = address;
      const isRegistered = asked.get('client_id') === clientId && asked.get('redirect_uri') === redirectUri;
      if (address.origin + address.pathname !== `${origin}/authorize` || !isRegistered)
        throw new Error(`not a request of a registered client: ${address.href}`);
      const code = randomBytes(16).toString('hex');
      codes.set(code, asked);
      const back = new URL(redirectUri);
      back.search = new URLSearchParams({
        code,
        state: asked.get('state')!,
        ...(profile.returnsIssuer ? { iss: issuer() } : {}),
      }).toString();
      return back;
    },
    async logOut({ searchParams: asked }) {
      if (profile.logout === 'id_token_hint' && !issued.has(asked.get('id_token_hint') ?? ''))
        throw new Error('id_token_hint is required');
      if (asked.get('client_id') !== clientId) throw new Error('unknown client');
      if (asked.get('post_logout_redirect_uri') !== postLogoutRedirectUri)
        throw new Error('post_logout_redirect_uri is not registered');
      return new URL(`${postLogoutRedirectUri}?state=${asked.get('state')}`);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
