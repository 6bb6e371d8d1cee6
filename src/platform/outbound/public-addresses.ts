import ipaddr from 'ipaddr.js';

/** RFC 4291 §2.4 and the IANA registry: what is routed to everybody lies in 2000::/3. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** Of a public range, yet reached from within one cloud alone, and only by its own machines: Azure's wire server, which hands out credentials. */
const PLATFORM = new Set(['168.63.129.16']);

/**
 * Whether an address belongs to the public internet. Everything else is refused: private, loopback, link-local (cloud
 * metadata), carrier-grade NAT, multicast, reserved, and IPv6 forms that carry an IPv4 address (mapped, compatible, NAT64,
 * 6to4, Teredo), since what they reach is decided elsewhere.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !PLATFORM.has(address.toString());
  return (address as ipaddr.IPv6).match(GLOBAL_UNICAST);
}
