import { parse } from 'tldts';

/** What an address has around its host, or spells a host with. */
const AROUND_A_HOST = /[/?#\\@:%\s]/;
const LONGEST = 253; // RFC 1035 §2.3.4

/**
 * A host in the one spelling that rules are matched in (choice OP-108): lower case, punycode, no dot at the end. Undefined
 * for what is no host. Needs nothing but what a browser has, too.
 */
export function canonicalHost(text: string): string | undefined {
  const bare = text.trim().replace(/\.$/, '');
  if (bare === '' || AROUND_A_HOST.test(bare) || !URL.canParse(`https://${bare}`)) return undefined;
  const { hostname } = new URL(`https://${bare}`);
  return hostname.length <= LONGEST ? hostname : undefined;
}

/**
 * True where an entry for `domain` speaks for `host`: itself, and with `subdomains` whatever is below. A registry
 * (`co.uk`, `github.io`) speaks for nobody below it: what is there belongs to others.
 */
export function coversHost(domain: string, host: string, subdomains = true): boolean {
  if (host === domain) return true;
  if (!subdomains || !host.endsWith(`.${domain}`)) return false;
  return parse(domain, { allowPrivateDomains: true }).publicSuffix !== domain;
}
