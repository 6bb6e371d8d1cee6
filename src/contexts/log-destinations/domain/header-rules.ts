/** RFC 9110 §5.6.2: a token. */
const NAME = /^[\w!#$%&'*+.^`|~-]{1,64}$/;

/** Headers that the connection, the body or the stored token decides (RFC 9110 §7.6.1). */
const RESERVED = new Set([
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Why a webhook's request may not have this header; undefined if it may. */
export function refusedHeader(name: string): string | undefined {
  if (!NAME.test(name)) return 'must be the name of a header';
  const lower = name.toLowerCase();
  if (lower === 'authorization') return 'cannot be set: use token, which is stored as a secret';
  return RESERVED.has(lower) ? 'cannot be set: the request itself needs this header' : undefined;
}
