import { hash } from 'node:crypto';

/**
 * Returns a UUID (version 8, RFC 9562 §5.8) derived from its parts, e.g. for the n-th event of a command or the n-th
 * effect of an event.
 */
export function derivedId(...parts: readonly (string | number)[]): string {
  const hex = hash('sha256', parts.join('|'));
  const variant = ((parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
