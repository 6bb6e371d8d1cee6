import { isIP } from 'node:net';

/** Suffixes of private networks (RFC 6762, RFC 8375, and common company suffixes). */
const INSIDE = ['local', 'localhost', 'internal', 'intranet', 'lan', 'home', 'corp', 'private', 'home.arpa'];

/** Whether a host may be sent to an external service. IP addresses and internal names must not leave the tenant. */
export const isScannable = (host: string): boolean =>
  host.includes('.') &&
  !host.startsWith('[') &&
  isIP(host) === 0 &&
  !INSIDE.some((name) => host === name || host.endsWith(`.${name}`));
