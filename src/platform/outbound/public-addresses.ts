import ipaddr from 'ipaddr.js';

/** RFC 4291 §2.4 and the IANA registry: globally routed addresses are in 2000::/3. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Public by range, but reachable only from within Azure, by its virtual machines: the wire server, which issues
 * credentials.
 */
const PLATFORM = new Set(['168.63.129.16']);

/**
 * Whether an address belongs to the public internet. All others are refused: private, loopback, link-local (cloud
 * metadata), carrier-grade NAT, multicast and reserved. So are IPv6 forms that carry an IPv4 address (mapped,
 * compatible, NAT64, 6to4, Teredo), since their real destination is decided elsewhere.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !PLATFORM.has(address.toString());
  return (address as ipaddr.IPv6).match(GLOBAL_UNICAST);
}
