import { getDomain } from 'tldts';

/**
 * The site that a host belongs to: its registrable domain (public suffix list, private suffixes too, so that two pages on a
 * shared hosting domain are two sites). Hosts without one (addresses, names inside a network) are a site of their own.
 */
export const siteOf = (host: string): string => getDomain(host, { allowPrivateDomains: true }) ?? host;
