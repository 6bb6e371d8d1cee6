/** Codes of OpenSSL for a first record that is none of TLS. */
const NO_TLS = /^(?:EPROTO|ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNSUPPORTED_PROTOCOL))$/;

/** Libraries wrap the error of the connection several levels deep. */
const MAX_DEPTH = 5;

/** The call failed because the peer does not speak TLS. */
export function speaksNoTls(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < MAX_DEPTH && current instanceof Error; depth += 1) {
    if (NO_TLS.test(String((current as { code?: unknown }).code))) return true;
    current = current.cause;
  }
  return false;
}

/**
 * What the first octets of a peer that should be silent say: an alert of TLS (RFC 8446 §5.1: content type 21, version
 * 3.x), or the status line of an HTTP response.
 */
export function protocolOf(first: Buffer): 'tls' | 'http' | undefined {
  if (first[0] === 21 && first[1] === 3) return 'tls';
  return first.subarray(0, 5).toString('latin1') === 'HTTP/' ? 'http' : undefined;
}
