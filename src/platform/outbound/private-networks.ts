import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/** The networks that an operator may list: private by RFC 1918, RFC 4193 and RFC 6598, and this machine. */
const LISTABLE = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  'fc00::/7',
  '::1/128',
];

/**
 * Addresses at which clouds hand out credentials to any process inside. They are never called, even if a listed
 * network contains them. Link-local addresses hold those of AWS, Azure, Google and most others.
 */
const METADATA = [
  '169.254.0.0/16',
  'fe80::/10',
  // AWS over IPv6.
  'fd00:ec2::/32',
  // Google Cloud over IPv6.
  'fd20:ce::/32',
  // Alibaba Cloud.
  '100.100.100.200/32',
  // Oracle Cloud.
  '192.0.0.192/32',
  // Azure's wire server.
  '168.63.129.16/32',
].map((text) => ipaddr.parseCIDR(text));

const isWithin = (address: Address, [network, bits]: Range): boolean =>
  address.kind() === network.kind() && address.match(network as never, bits);

/** IPv6 notation of an IPv4 address is read as that address. */
export function isMetadataAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return METADATA.some((range) => isWithin(address, range));
}

/** The private networks that an operator allows for destinations that administrators choose. */
export interface PrivateNetworks {
  readonly isEmpty: boolean;
  includes(address: string): boolean;
}

/** Throws `RangeError` with a text for the operator. */
export function privateNetworks(listed: readonly string[]): PrivateNetworks {
  const ranges = listed.map(rangeOf);
  return {
    isEmpty: ranges.length === 0,
    includes: (text) =>
      ipaddr.isValid(text) && !isMetadataAddress(text) && ranges.some((range) => isWithin(ipaddr.parse(text), range)),
  };
}

export const NO_PRIVATE_NETWORKS: PrivateNetworks = privateNetworks([]);

function rangeOf(text: string): Range {
  if (!ipaddr.isValidCIDR(text))
    throw new RangeError(`${text} is not a network: write an address and a prefix length, such as 10.20.0.0/16`);
  const range = ipaddr.parseCIDR(text);
  const [network, bits] = range;
  const isPrivate = LISTABLE.map((entry) => ipaddr.parseCIDR(entry)).some(
    (outer) => bits >= outer[1] && isWithin(network, outer),
  );
  if (!isPrivate) throw new RangeError(`${text} is not within a private network (${LISTABLE.join(', ')})`);
  return range;
}
