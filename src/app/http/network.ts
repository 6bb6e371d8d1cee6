import ipaddr from 'ipaddr.js';

/**
 * The network of a client: its IPv4 address, or the /64 of its IPv6 address, because a subscriber has at least a /64. A
 * port that a proxy appended is ignored. All invalid addresses count as one client.
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
