import { z } from 'zod';
import { addressField } from '../../platform/web-addresses/address-field.ts';
import { sameIssuer, withoutSlash } from './openid-refusals.ts';
import { SIGNATURE_ALGORITHMS } from './openid-signatures.ts';
import { wrongIssuerAddress } from './domain/issuer-address.ts';
import { asOneLine } from './one-line.ts';
import { DestinationFailed } from '../../platform/outbound/explained-fetch.ts';
import type { IssuerReach } from './issuer-reach.ts';

/** OP-137. The last four are set only on success. */
export const issuerProbeView = z.object({
  success: z.boolean(),
  message: z.string(),
  issuer: z.string().nullable(),
  authorizationEndpoint: z.string().nullable(),
  tokenEndpoint: z.string().nullable(),
  jwksUri: z.string().nullable(),
});
export type IssuerProbe = z.output<typeof issuerProbeView>;

const address = addressField();
/** OpenID Connect Discovery 1.0 §3: the fields that the code flow requires. */
const discoverySchema = z.object({
  issuer: z.string().max(2_048),
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  /** Sign-ins ask it for claims that an ID token lacks. */
  userinfo_endpoint: address.nullish(),
  code_challenge_methods_supported: z.array(z.unknown()).nullish(),
  id_token_signing_alg_values_supported: z.array(z.unknown()).nullish(),
  /** Judged apart: sign-ins do without it. */
  end_session_endpoint: z.unknown().optional(),
});
type Discovered = z.output<typeof discoverySchema>;

/** Called by the service. Browsers alone are sent to the authorization endpoint: it may be where only they are. */
const CALLED = ['token_endpoint', 'jwks_uri', 'userinfo_endpoint'] as const;

/** Why a sign-out does not lead there, as a part of a sentence. Only browsers go there. */
function wrongLogout({ end_session_endpoint: named }: Discovered, { allowsHttp }: IssuerReach): string | undefined {
  if (named === undefined || named === null) return undefined;
  const read = address.safeParse(named);
  const plain = read.success && !allowsHttp && !read.data.toLowerCase().startsWith('https:');
  if (read.success && !plain) return undefined;
  const reason = plain
    ? 'must be an https address'
    : (read.error?.issues.find(({ code }) => code === 'custom')?.message ?? 'is no web address');
  return `its end_session_endpoint ${reason}, so a sign-out does not lead to it`;
}

/** Why a sign-in could not use an address that the document names. */
async function wrongEndpoints(document: Discovered, { allowsHttp, unreachable }: IssuerReach): Promise<string[]> {
  const judged = (['authorization_endpoint', ...CALLED] as const).map(async (name) => {
    const named = document[name];
    if (!named) return [];
    const reason =
      !allowsHttp && !named.toLowerCase().startsWith('https:')
        ? 'must be an https address'
        : name === 'authorization_endpoint'
          ? undefined
          : await unreachable(named);
    return reason === undefined ? [] : [`its ${name} ${reason}`];
  });
  return (await Promise.all(judged)).flat();
}

const failed = (message: string): IssuerProbe => ({
  success: false,
  message,
  issuer: null,
  authorizationEndpoint: null,
  tokenEndpoint: null,
  jwksUri: null,
});

/**
 * Requests an OpenID Connect issuer's discovery document, and checks that sign-ins can use what it names. Errors are
 * returned as a result, never thrown.
 */
export async function probeIssuer(issuerUrl: string, reach: IssuerReach): Promise<IssuerProbe> {
  const wrong = wrongIssuerAddress(issuerUrl);
  if (wrong !== undefined) return failed(`the address ${wrong}`);
  let document: unknown;
  try {
    // Discovery 1.0 §4.1: removes a trailing slash of the issuer.
    const response = await reach.fetch(`${withoutSlash(issuerUrl)}/.well-known/openid-configuration`, {
      headers: { accept: 'application/json' },
    });
    if (response.status !== 200)
      return failed(`the issuer has no discovery document: its address returned status ${response.status}`);
    document = JSON.parse(await response.text());
  } catch (error) {
    if (error instanceof DestinationFailed) return failed(error.message);
    return failed(
      error instanceof SyntaxError ? 'the discovery document is not JSON' : 'the discovery document cannot be read',
    );
  }
  const read = discoverySchema.safeParse(document);
  if (!read.success) return failed('the discovery document lacks fields that a sign-in needs');
  const { issuer, authorization_endpoint, token_endpoint, jwks_uri } = read.data;
  // Otherwise sign-ins would be refused later.
  if (!sameIssuer(issuer, issuerUrl))
    return failed(`the discovery document names another issuer: ${asOneLine(issuer)}`);
  const wrongOnes = await wrongEndpoints(read.data, reach);
  if (wrongOnes.length > 0) return failed(`the issuer has a discovery document, but ${wrongOnes.join('; ')}`);
  const methods = read.data.code_challenge_methods_supported;
  if (methods && !methods.includes('S256'))
    return failed('the issuer does not offer the code challenge method S256, which sign-ins use');
  const algorithms = read.data.id_token_signing_alg_values_supported;
  if (algorithms && !algorithms.some((name) => typeof name === 'string' && SIGNATURE_ALGORITHMS.has(name)))
    return failed('the issuer signs ID tokens by no algorithm that sign-ins accept, such as RS256 or ES256');
  const logout = wrongLogout(read.data, reach);
  return {
    success: true,
    message: `the issuer has a valid discovery document${logout === undefined ? '' : `, but ${logout}`}`,
    issuer,
    authorizationEndpoint: authorization_endpoint,
    tokenEndpoint: token_endpoint,
    jwksUri: jwks_uri,
  };
}
