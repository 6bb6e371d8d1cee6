import ipaddr from 'ipaddr.js';

/**
 * The network that a client speaks from: an IPv4 address, or the /64 of an IPv6 one, since every subscriber has that many addresses. A port
 * that a proxy appended is no part of it, and whatever is no address is one and the same client.
 */
export function networkOf(address: string): string {
  const bare = address
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '');
  if (!ipaddr.isValid(bare)) return 'unknown';
  const parsed = ipaddr.process(bare);
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : parsed.toString();
}
