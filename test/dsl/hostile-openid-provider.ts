import { createHmac, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LogoutTokenIssuer } from './logout-token.ts';
import { rsaKey } from './rsa-keys.ts';

export interface RawResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How the next responses are wrong. Omitted fields are correct. */
export interface Misbehaviour {
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  /** `none`: no signature; `hmac`: with the public key as secret; `stranger`: with a key that is not published. */
  readonly signature?: 'none' | 'hmac' | 'stranger' | 'broken';
  readonly discovery?: Record<string, unknown>;
  /** Instead of a token. */
  readonly token?: {
    readonly status: number;
    readonly location?: string;
    readonly challenge?: string;
    readonly body?: string;
  };
  readonly withoutIdToken?: boolean;
  /** Offers a userinfo endpoint that returns this. */
  readonly userinfo?: { readonly status: number; readonly claims?: Record<string, unknown> };
  /** Instead of the discovery document. */
  readonly discoveryStatus?: number;
  /** Other members of the token response. */
  readonly tokenResponse?: Record<string, unknown>;
  /** Responses in place of the usual ones, by path. */
  readonly raw?: Readonly<Record<string, RawResponse>>;
  /** Awaited before each response, with the path of its request. */
  readonly waits?: (path: string) => Promise<void> | void;
  /** Published in place of its own key, as `k1`, `k2` and so on. */
  readonly keys?: readonly KeyObject[];
}

export interface HostileOpenIdProvider extends LogoutTokenIssuer {
  behave(next: Misbehaviour): void;
  /** Bodies that arrived at the token endpoint. */
  readonly redeemed: URLSearchParams[];
  /** How often the keys were read. */
  keysRead(): number;
  close(): Promise<void>;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * A provider that returns any response, also those that a correct one cannot return. `nonce` is that of the last
 * request.
 */
export async function startHostileOpenIdProvider(
  clientId: string,
  nonceOf: () => string,
): Promise<HostileOpenIdProvider> {
  const [ownKey, strangersKey] = [rsaKey(), rsaKey()];
  const ownPublicKey = createPublicKey(ownKey);
  const redeemed: URLSearchParams[] = [];
  let wrong: Misbehaviour = {};
  let keysRead = 0;
  let issuer = '';

  const idToken = (): string => {
    const now = Math.floor(Date.now() / 1000);
    const { signature } = wrong;
    const alg = signature === 'none' ? 'none' : signature === 'hmac' ? 'HS256' : 'RS256';
    const claims = {
      iss: issuer,
      sub: 'ann',
      aud: clientId,
      iat: now,
      exp: now + 60,
      nonce: nonceOf(),
      email: 'nobody@nowhere.example',
      email_verified: true,
      ...wrong.claims,
    };
    const input = `${encoded({ alg, kid: 'k1', ...wrong.header })}.${encoded(JSON.parse(JSON.stringify(claims)) as object)}`;
    return `${input}.${signatureOver(input)}`;
  };
  const signatureOver = (input: string): string => {
    const rsa = (key: KeyObject) => sign('sha256', Buffer.from(input), key).toString('base64url');
    switch (wrong.signature) {
      case 'none':
        return '';
      case 'hmac':
        return createHmac('sha256', ownPublicKey.export({ type: 'spki', format: 'pem' }))
          .update(input)
          .digest('base64url');
      case 'stranger':
        return rsa(strangersKey);
      case 'broken':
        return rsa(ownKey).replace(/^.{20}/, (start) => [...start].reverse().join(''));
      default:
        return rsa(ownKey);
    }
  };

  const server = createServer((request, response) => {
    const json = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      await wrong.waits?.(request.url!);
      const raw = wrong.raw?.[request.url!];
      if (raw) return response.writeHead(raw.status, { ...raw.headers }).end(raw.body ?? '');
      switch (request.url) {
        case '/.well-known/openid-configuration':
          return json(wrong.discoveryStatus ?? 200, {
            issuer,
            authorization_endpoint: `${issuer}/auth`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/jwks`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            ...(wrong.userinfo ? { userinfo_endpoint: `${issuer}/userinfo` } : {}),
            ...wrong.discovery,
          });
        case '/jwks':
          keysRead += 1;
          return json(200, {
            keys: (wrong.keys ?? [ownKey]).map((key, at) => ({
              ...createPublicKey(key).export({ format: 'jwk' }),
              kid: `k${at + 1}`,
              use: 'sig',
            })),
          });
        case '/token': {
          redeemed.push(new URLSearchParams(Buffer.concat(chunks).toString()));
          const { token } = wrong;
          if (token)
            return response
              .writeHead(token.status, {
                'content-type': 'application/json',
                ...(token.location ? { location: token.location } : {}),
                ...(token.challenge ? { 'www-authenticate': token.challenge } : {}),
              })
              .end(token.body ?? '');
          return json(200, {
            access_token: 'opaque',
            token_type: 'Bearer',
            expires_in: 60,
            ...(wrong.withoutIdToken ? {} : { id_token: idToken() }),
            ...wrong.tokenResponse,
          });
        }
        case '/userinfo':
          return json(wrong.userinfo?.status ?? 404, { sub: 'ann', ...wrong.userinfo?.claims });
        default:
          return json(404, {});
      }
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    clientId,
    key: ownKey,
    publicPem: ownPublicKey.export({ type: 'spki', format: 'pem' }).toString(),
    redeemed,
    keysRead: () => keysRead,
    behave: (next) => {
      wrong = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
