/** What a peer speaks instead of the protocol that was chosen for it. */
export type ProtocolProblem = 'no_tls' | 'no_http';

/** Codes of OpenSSL for a first record that is none of TLS, and of Node's HTTP parser for a response that is none. */
const NO_TLS = /^(?:EPROTO|ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNSUPPORTED_PROTOCOL))$/;
const NO_HTTP = /^HPE_/;

/** Libraries wrap the error of the connection several levels deep. */
const MAX_DEPTH = 5;

/** Undefined if the call failed for another reason. */
export function protocolProblem(error: unknown): ProtocolProblem | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_DEPTH && current instanceof Error; depth += 1) {
    const code = String((current as { code?: unknown }).code);
    if (NO_TLS.test(code)) return 'no_tls';
    if (NO_HTTP.test(code)) return 'no_http';
    current = current.cause;
  }
  return undefined;
}

/**
 * What the first octets of a peer that should be silent say: an alert of TLS (RFC 8446 §5.1: content type 21, version
 * 3.x), or the status line of an HTTP response.
 */
export function protocolOf(first: Buffer): 'tls' | 'http' | undefined {
  if (first[0] === 21 && first[1] === 3) return 'tls';
  return first.subarray(0, 5).toString('latin1') === 'HTTP/' ? 'http' : undefined;
}
