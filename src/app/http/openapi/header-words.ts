/** Response headers, by name. CORS and security headers, which every response has, are left out. */
export const headerWords = {
  'Cache-Control': 'How long the response may be kept',
  'Content-Disposition': 'The name of the file',
  ETag: 'The tag of the state that the response shows; for `If-Match` and `If-None-Match`',
  'Idempotent-Replayed': '`true`: the stored response of an earlier request with this `Idempotency-Key`',
  Location: 'Where the browser has to go, or the address of the resource',
  Pragma: '`no-cache`: for caches of HTTP/1.0 (RFC 6749, section 5.1)',
  'Retry-After': 'Seconds until a retry makes sense; absent if only a person can change something',
  'Set-Cookie': 'A cookie that ties the browser to the sign-in that it began',
  'WWW-Authenticate': 'How to authenticate (RFC 9110, section 11.6.1)',
  'X-Log-Position': 'The position of the last event that the request appended; absent if it appended none',
  'X-Policy-Key': 'The id of the key of the signature, as in `/api/v1/ext/policy-keys`',
  'X-Policy-Signature': 'The signature of the body; docs/extension-protocol.md says how to verify it',
  'X-RateLimit-Limit': 'Requests in the budget of this caller',
  'X-RateLimit-Remaining': 'Requests that are left of it',
  'X-RateLimit-Reset': 'Seconds until the budget is full again',
  'X-Request-ID': 'The id of the request, which the log has, too; that of the request header, if it had one',
  'X-Stale': '`true`: the read models had not passed the position in time, so the response may show an earlier state',
} as const;
export type DescribedHeader = keyof typeof headerWords;
