import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { AddressGuard } from './address-guard.ts';
import { guardedConnect, type GuardedConnect } from './guarded-connection.ts';
import { guardedDatagrams, type GuardedDatagrams } from './guarded-datagrams.ts';
import { guardedFetch, type GuardedFetch, type GuardOptions } from './guarded-fetch.ts';
import { guardedDownload, type GuardedDownload } from './guarded-download.ts';
import { isMetadataAddress, NO_PRIVATE_NETWORKS, type PrivateNetworks } from './private-networks.ts';
import { isPublicAddress } from './public-addresses.ts';

/** What the operator allows for all destinations that administrators choose (`OUTBOUND_PRIVATE_NETWORKS`). */
export interface OutboundSettings {
  /** All private addresses, and plain HTTP. */
  readonly devMode: boolean;
  readonly outboundNetworks: PrivateNetworks;
  /** Resolves names at connections. Default: the system's resolver. */
  readonly resolve?: NonNullable<AddressGuard['resolve']>;
}

/** What an administrator chose for one destination. */
export interface DestinationChoice {
  /** The destination may be in a private network, if the operator listed that network. */
  readonly allowPrivateNetwork: boolean;
  /** PEM. Certificates of authorities to trust for this destination instead of the system's. */
  readonly caCertificate: string | null;
  /** The field of a request that sets `allowPrivateNetwork`, if it has another name. */
  readonly allowedBy?: string;
}

export const PUBLIC_DESTINATION: DestinationChoice = { allowPrivateNetwork: false, caCertificate: null };

/** For commands that store a destination. */
export interface Destinations {
  /** Why the destination could not be called as it is chosen; undefined if nothing speaks against it. */
  unreachable(address: string, choice: DestinationChoice): Promise<string | undefined>;
}

const guardOf = (
  { devMode, outboundNetworks, resolve }: OutboundSettings,
  { allowPrivateNetwork }: Pick<DestinationChoice, 'allowPrivateNetwork'>,
): AddressGuard => ({
  ...(resolve ? { resolve } : {}),
  allowPrivate: devMode,
  privateNetworks: allowPrivateNetwork ? outboundNetworks : NO_PRIVATE_NETWORKS,
});

/** The way out to a destination that an administrator chose. */
export const destinationFetch = (
  settings: OutboundSettings,
  choice: DestinationChoice,
  limits: Pick<GuardOptions, 'maxBytes' | 'timeoutMs' | 'keepsConnections'> = {},
): GuardedFetch =>
  guardedFetch({
    ...guardOf(settings, choice),
    ...(choice.caCertificate === null ? {} : { ca: choice.caCertificate }),
    ...limits,
  });

/**
 * Downloads large files from addresses that a document of the operator's own server names: on that server without
 * further condition, elsewhere on the public internet or in a network of `OUTBOUND_PRIVATE_NETWORKS`.
 */
export const downloadNamedBy = (
  settings: OutboundSettings,
  server: string | undefined,
  limits: { readonly maxBytes: number; readonly timeoutMs: number },
): GuardedDownload => {
  const origin = server === undefined ? undefined : new URL(server).origin;
  const elsewhere = guardOf(settings, { allowPrivateNetwork: true });
  return guardedDownload({ ...limits, guardOf: (url) => (url.origin === origin ? { allowPrivate: true } : elsewhere) });
};

/** The same for protocols other than HTTP. The caller checks certificates. */
export const destinationConnect = (settings: OutboundSettings, choice: DestinationChoice): GuardedConnect =>
  guardedConnect(guardOf(settings, choice));

/** The same for UDP. */
export const destinationDatagrams = (settings: OutboundSettings, choice: DestinationChoice): GuardedDatagrams =>
  guardedDatagrams(guardOf(settings, choice));

const RESOLVE_MS = 2_000;

/** Resolves a name to all its addresses; none if it cannot be resolved now. */
export type ResolveAll = (name: string) => Promise<readonly string[]>;

const resolveBySystem: ResolveAll = async (name) => {
  const none: readonly string[] = [];
  const late = new Promise<typeof none>((resolve) => setTimeout(resolve, RESOLVE_MS, none).unref());
  const found = lookup(name, { all: true }).then(
    (addresses) => addresses.map(({ address }) => address),
    () => none,
  );
  return Promise.race([found, late]);
};

/**
 * Why a destination could not be called as it is chosen, for the administrator who saves it; undefined if nothing
 * speaks against it. A name that does not resolve yet is no reason. The guard of `destinationFetch` decides again at
 * every connection.
 */
export async function unreachableDestination(
  address: string,
  settings: OutboundSettings,
  choice: DestinationChoice,
  resolve: ResolveAll = resolveBySystem,
): Promise<string | undefined> {
  const host = hostOf(address);
  return whyUncalled(isIP(host) === 0 ? await resolve(host) : [host], settings, choice);
}

/** The same for a destination that is written as an IP address. It needs no look-up. */
export function unreachableLiteral(address: string, settings: OutboundSettings, choice: Reach): string | undefined {
  const host = hostOf(address);
  return isIP(host) === 0 ? undefined : whyUncalled([host], settings, choice);
}

type Reach = Pick<DestinationChoice, 'allowPrivateNetwork' | 'allowedBy'>;

const hostOf = (address: string): string => new URL(address).hostname.replace(/^\[|\]$/g, '');

function whyUncalled(
  addresses: readonly string[],
  { devMode, outboundNetworks }: OutboundSettings,
  { allowPrivateNetwork, allowedBy = 'allowPrivateNetwork' }: Reach,
): string | undefined {
  if (addresses.some(isMetadataAddress)) return 'leads to an address that is never called';
  const hidden = devMode ? [] : addresses.filter((one) => !isPublicAddress(one));
  if (hidden.length === 0) return undefined;
  if (!hidden.every((one) => outboundNetworks.includes(one)))
    return 'leads to a private network that the operator has not listed in OUTBOUND_PRIVATE_NETWORKS';
  return allowPrivateNetwork ? undefined : `leads to a private network: set ${allowedBy} to allow that`;
}
