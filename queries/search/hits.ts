import { domainToASCII } from 'node:url';

/** Maximum number of results per kind, newest first, in a search and in an export (choice OP-240). */
export const MAX_HITS = 10_000;

/**
 * A second spelling of the text, as hosts are stored: `bücher` is `xn--bcher-kva`. Null if the text is no part of a host
 * with other letters than ASCII.
 */
export function asStoredHost(text: string): string | null {
  const ascii = domainToASCII(text);
  return ascii === '' || ascii === text.toLowerCase() ? null : ascii;
}
