import { domainToASCII } from 'node:url';

/** Maximum number of results per kind, newest first, in a search and in an export (choice OP-240). */
export const MAX_HITS = 10_000;

/**
 * A second spelling of the text, as hosts are stored: `bücher` is `xn--bcher-kva`, also after the `@` of an address. Null if the
 * text is no part of a host with other letters than ASCII.
 */
export function asStoredHost(text: string): string | null {
  const at = text.lastIndexOf('@') + 1;
  const [local, host] = [text.slice(0, at), text.slice(at)];
  const ascii = domainToASCII(host);
  return ascii === '' || ascii === host.toLowerCase() ? null : local + ascii;
}
