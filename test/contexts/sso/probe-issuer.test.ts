import { describe, expect, it } from 'vitest';
import type { GuardedFetch } from '../../../src/platform/outbound/guarded-fetch.ts';
import { DestinationFailed } from '../../../src/platform/outbound/explained-fetch.ts';
import { probeIssuer } from '../../../src/contexts/sso/probe-issuer.ts';

const ISSUER = 'https://idp.example/realms/acme';
const document = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/jwks`,
};
const answering =
  (body: string, status = 200): GuardedFetch =>
  async () =>
    new Response(body, { status });
const probe = (issuerUrl: string, fetch: GuardedFetch) =>
  probeIssuer(issuerUrl, { fetch, allowsHttp: false, unreachable: async () => undefined });
const nothing = { issuer: null, authorizationEndpoint: null, tokenEndpoint: null, jwksUri: null };

describe('the connection test of an issuer', () => {
  it('returns what a sign-in needs', async () => {
    const asked: string[] = [];
    const answer = await probe(ISSUER, async (address) => {
      asked.push(address.toString());
      return new Response(JSON.stringify(document));
    });
    expect(asked).toEqual([`${ISSUER}/.well-known/openid-configuration`]);
    expect(answer).toEqual({
      success: true,
      message: expect.any(String),
      issuer: ISSUER,
      authorizationEndpoint: document.authorization_endpoint,
      tokenEndpoint: document.token_endpoint,
      jwksUri: document.jwks_uri,
    });
  });

  it('follows the standard for an issuer that ends with a slash', async () => {
    const withSlash = `${ISSUER}/`;
    const answer = await probe(withSlash, async (address) => {
      expect(address).toBe(`${ISSUER}/.well-known/openid-configuration`);
      return new Response(JSON.stringify({ ...document, issuer: withSlash }));
    });
    expect(answer.success).toBe(true);
  });

  it.each([
    ['is not found', answering('', 404)],
    ['redirects', answering('', 302)],
    ['sends something else', answering('<html>')],
    ['sends too little', answering(JSON.stringify({ issuer: ISSUER }))],
    [
      'names endpoints that are no addresses',
      answering(JSON.stringify({ ...document, token_endpoint: 'javascript:alert(1)' })),
    ],
    [
      'has a token endpoint without TLS',
      answering(JSON.stringify({ ...document, token_endpoint: 'http://idp.example/token' })),
    ],
    [
      'has a sign-in page without TLS',
      answering(JSON.stringify({ ...document, authorization_endpoint: 'http://idp.example/authorize' })),
    ],
    ['offers no S256', answering(JSON.stringify({ ...document, code_challenge_methods_supported: ['plain'] }))],
    [
      'signs with a shared secret only',
      answering(JSON.stringify({ ...document, id_token_signing_alg_values_supported: ['HS256', 'none'] })),
    ],
    [
      'has a sign-in page with credentials',
      answering(JSON.stringify({ ...document, authorization_endpoint: 'https://user:pass@idp.example/authorize' })),
    ],
    ['speaks for another issuer', answering(JSON.stringify({ ...document, issuer: 'https://idp.example' }))],
    ['cannot be reached', () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1'))],
    ['must not be called', () => Promise.reject(new DestinationFailed('the address is not public', undefined))],
  ] as [string, GuardedFetch][])('fails if the issuer %s', async (_case, fetch) => {
    const answer = await probe(ISSUER, fetch);
    expect(answer).toEqual({ success: false, message: expect.any(String), ...nothing });
    expect(answer.message).not.toMatch(/ECONN|10\.0/);
  });

  it('names every address that the service could not call, and what to set', async () => {
    const reason = 'leads to a private network: set allowPrivateNetwork to allow that';
    const answer = await probeIssuer(ISSUER, {
      fetch: answering(
        JSON.stringify({ ...document, jwks_uri: 'https://10.0.0.1/jwks', userinfo_endpoint: 'http://idp.example/me' }),
      ),
      allowsHttp: false,
      unreachable: async (address) => (address.includes('10.0.0.1') ? reason : undefined),
    });
    expect(answer).toEqual({ success: false, message: expect.any(String), ...nothing });
    expect(answer.message).toContain(`jwks_uri ${reason}`);
    expect(answer.message).toContain('userinfo_endpoint must be an https address');
  });

  it.each([
    ['https://user:pass@idp.example/logout', 'must contain no credentials'],
    ['http://idp.example/logout', 'must be an https address'],
    [7, 'is no web address'],
  ])('says that a sign-out does not lead to %s, which no sign-in needs', async (endpoint, reason) => {
    const answer = await probe(ISSUER, answering(JSON.stringify({ ...document, end_session_endpoint: endpoint })));
    expect(answer).toMatchObject({ success: true, message: expect.stringContaining(`end_session_endpoint ${reason}`) });
    const right = { ...document, end_session_endpoint: `${ISSUER}/logout` };
    expect((await probe(ISSUER, answering(JSON.stringify(right)))).message).not.toContain('end_session_endpoint');
  });

  it('does not look where the sign-in page leads: only browsers go there', async () => {
    const answer = await probeIssuer(ISSUER, {
      fetch: answering(JSON.stringify(document)),
      allowsHttp: false,
      unreachable: async (address) => (address === document.authorization_endpoint ? 'is away' : undefined),
    });
    expect(answer.success).toBe(true);
  });
});
