import { certificateProblem, type CertificateProblem } from './certificate-problem.ts';
import {
  destinationFetch,
  unreachableDestination,
  type DestinationChoice,
  type OutboundSettings,
} from './destinations.ts';
import { speaksNoTls } from './protocol-problem.ts';
import { MAX_BYTES, OutboundRefused, type GuardedFetch, type GuardOptions } from './guarded-fetch.ts';
import { parsedUrl } from '../kernel/parsed-url.ts';

/** A call failed. The message is for the administrator who chose the destination; it names no address. */
export class DestinationFailed extends Error {
  constructor(reason: string, cause: unknown) {
    super(reason, { cause });
    this.name = 'DestinationFailed';
  }
}

const isTooLarge = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | undefined)?.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE';

const TIMEOUTS: readonly unknown[] = [
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
];
const isOverdue = (error: unknown): boolean =>
  (error as Partial<Error> | undefined)?.name === 'TimeoutError' ||
  TIMEOUTS.includes((error as { readonly code?: unknown } | undefined)?.code);

const ABOUT_CERTIFICATES: Readonly<Record<Exclude<CertificateProblem, 'untrusted'>, string>> = {
  expired: 'its certificate has expired',
  not_valid_yet: 'its certificate is not valid yet: compare the clocks',
  other_name: 'its certificate is for another name',
};

/**
 * The way out to a destination for an administrator who waits for the result: the same guard, and every failure says
 * what to set. Throws `DestinationFailed` alone.
 */
export function explainedFetch(
  settings: OutboundSettings,
  choice: DestinationChoice,
  limits: Pick<GuardOptions, 'maxBytes' | 'keepsConnections'> = {},
): GuardedFetch {
  const fetch = destinationFetch(settings, choice, limits);
  const { maxBytes = MAX_BYTES } = limits;
  return async (address, request) => {
    try {
      return await fetch(address, request);
    } catch (error) {
      if (isTooLarge(error))
        throw new DestinationFailed(`what it returned is larger than ${maxBytes / 1_024} KiB`, error);
      throw new DestinationFailed(await destinationFailure(error, String(address), settings, choice), error);
    }
  };
}

/** Why a call to the address failed, for the administrator who chose it. The address is a URL, also of other protocols. */
export async function destinationFailure(
  error: unknown,
  address: string,
  settings: OutboundSettings,
  choice: DestinationChoice,
): Promise<string> {
  if (error instanceof OutboundRefused) return refusalOf(error, address, settings, choice);
  const problem = certificateProblem(error);
  if (speaksNoTls(error)) return 'it does not speak TLS at this port';
  if (problem === undefined)
    return isOverdue(error) ? 'the address does not respond in time' : 'the address cannot be reached';
  if (problem !== 'untrusted') return ABOUT_CERTIFICATES[problem];
  return choice.caCertificate === null
    ? 'its certificate is not trusted: set caCertificate to the authority that issued it'
    : 'its certificate is not trusted: caCertificate is another authority';
}

/** The guard says no more than that it refuses. What saving would say tells what to set. */
async function refusalOf(
  { message }: OutboundRefused,
  address: string,
  settings: OutboundSettings,
  choice: DestinationChoice,
): Promise<string> {
  const url = parsedUrl(address);
  const isCallable = url && (settings.devMode || url.protocol === 'https:');
  const known = isCallable ? await unreachableDestination(address, settings, choice) : undefined;
  return known === undefined ? message : `the address ${known}`;
}
