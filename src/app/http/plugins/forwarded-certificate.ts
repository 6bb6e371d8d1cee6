/**
 * Headers in which a proxy may pass on the client certificate of a connection. One is read, as configured: a proxy
 * replaces the one that it sets, and a client could forge the other.
 */
export const CLIENT_CERTIFICATE_HEADERS = ['X-Client-Cert', 'Client-Cert'] as const;
export type ClientCertificateHeader = (typeof CLIENT_CERTIFICATE_HEADERS)[number];

const MAX_CHARACTERS = 16_384;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** An item of structured fields (RFC 8941): a byte sequence. */
const BYTE_SEQUENCE = /^:([A-Za-z0-9+/]+={0,2}):$/;

/**
 * The certificate in a header: PEM or DER; undefined if it has no valid form.
 *
 * - `Client-Cert`: RFC 9440, DER in base64 between colons.
 * - `X-Client-Cert`: PEM, percent-encoded (nginx), or DER in base64 (Caddy, HAProxy; Traefik percent-encodes it).
 */
export function forwardedCertificate(name: ClientCertificateHeader, value: string): Buffer | string | undefined {
  if (value.length > MAX_CHARACTERS) return undefined;
  if (name === 'Client-Cert') {
    const base64 = BYTE_SEQUENCE.exec(value.trim())?.[1];
    return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
  }
  const text = decoded(value);
  return text !== undefined && BASE64.test(text) ? Buffer.from(text, 'base64') : text;
}

function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
