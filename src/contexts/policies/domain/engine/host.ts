import { parse } from 'tldts';
import { parsedUrl } from '../../../../platform/kernel/parsed-url.ts';

/** Characters that belong to a URL around its host, or that encode a host differently. */
const AROUND_A_HOST = /[/?#\\@:%\s]/;
const LONGEST = 253; // RFC 1035 §2.3.4

/**
 * Normalizes a host for rule matching (choice OP-108): lower case, punycode, no trailing dot. Returns undefined if the
 * text is not a host. Uses only what browsers provide, too.
 */
export function canonicalHost(text: string): string | undefined {
  const bare = text.trim().replace(/\.$/, '');
  if (bare === '' || AROUND_A_HOST.test(bare)) return undefined;
  const hostname = parsedUrl(`https://${bare}`)?.hostname;
  return hostname !== undefined && hostname.length <= LONGEST ? hostname : undefined;
}

/**
 * True if an entry for `domain` covers `host`: the same host, or with `subdomains` any host below. A registry (`co.uk`,
 * `github.io`) covers no hosts below it: they belong to others.
 */
export function coversHost(domain: string, host: string, subdomains = true): boolean {
  if (host === domain) return true;
  if (!subdomains || !host.endsWith(`.${domain}`)) return false;
  return parse(domain, { allowPrivateDomains: true }).publicSuffix !== domain;
}
