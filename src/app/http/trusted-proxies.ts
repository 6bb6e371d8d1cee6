import ipaddr from 'ipaddr.js';

/** Returns a test for addresses of trusted proxies, which are configured as addresses or CIDR ranges. */
export function trustedProxies(named: readonly string[]): (address: string | undefined) => boolean {
  const ranges = named.map((name) =>
    ipaddr.parseCIDR(name.includes('/') ? name : `${name}/${ipaddr.parse(name).kind() === 'ipv4' ? 32 : 128}`),
  );
  return (address) => {
    if (ranges.length === 0 || address === undefined) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
  };
}
