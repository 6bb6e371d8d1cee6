import { getDomain } from 'tldts';

/**
 * The site of a host: its registrable domain by the public suffix list. Private suffixes count too, so two pages on a
 * shared hosting domain are two sites. A host without one (an IP address, an internal name) is a site of its own.
 */
export const siteOf = (host: string): string => getDomain(host, { allowPrivateDomains: true }) ?? host;
