import { isIP } from 'node:net';

/** Names that mean something else in every house (RFC 6762, RFC 8375, and what companies use in their place). */
const INSIDE = ['local', 'localhost', 'internal', 'intranet', 'lan', 'home', 'corp', 'private', 'home.arpa'];

/** Whether a host may be named to somebody outside: addresses and names of the inside are the tenant's own business. */
export const isScannable = (host: string): boolean =>
  host.includes('.') &&
  !host.startsWith('[') &&
  isIP(host) === 0 &&
  !INSIDE.some((name) => host === name || host.endsWith(`.${name}`));
