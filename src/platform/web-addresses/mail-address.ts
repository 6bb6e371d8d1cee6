import { domainToASCII } from 'node:url';

const MAX_LENGTH = 254;

/**
 * An e-mail address with its host in letters of ASCII (RFC 5890 §2.3.2.1), as servers have it: people and providers also
 * write it in their own script, and both are one person's. A host that is none stays as it is.
 */
export function withAsciiHost(address: string): string {
  const at = address.lastIndexOf('@');
  const host = address.slice(at + 1);
  if (at < 0 || address.length > MAX_LENGTH || /^[\x21-\x7e]*$/.test(host)) return address;
  return address.slice(0, at + 1) + (domainToASCII(host) || host);
}
