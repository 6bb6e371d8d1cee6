import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';

/** Signatures made with the issuer's private key. Neither `none` nor an HMAC, whose key could be a public value. */
export const SIGNATURE_ALGORITHMS: ReadonlySet<string> = new Set([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]);

/** How far the issuer's clock may be behind. */
export const SKEW_SECONDS = 60;
/** How far it may be ahead, as with SAML (decision 0083). That lengthens no validity, so it can be more. */
export const AHEAD_SECONDS = 180;

/** True if one of the keys has signed the token. A token without `kid` is tried with every key that fits. */
export async function isSignedByOneOf(keys: JSONWebKeySet, token: string): Promise<boolean> {
  const options = { algorithms: [...SIGNATURE_ALGORITHMS] };
  try {
    await compactVerify(token, createLocalJWKSet(keys), options);
    return true;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return false;
    for await (const key of error) {
      const isSigned = await compactVerify(token, key, options).then(
        () => true,
        () => false,
      );
      if (isSigned) return true;
    }
    return false;
  }
}
