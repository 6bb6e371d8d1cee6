import { guardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import { DomainReputation } from './domain-reputation.ts';
import type { ThreatIntelProviders } from './provider.ts';
import { UrlScanner } from './url-scanner.ts';

/** The address of a service. `isTrusted`: the operator configured it, so it may be a private address. */
export interface ProviderAddress {
  readonly url: string;
  readonly isTrusted: boolean;
}

/** Short, because a browser waits for the result. */
const TIMEOUT_MS = 8_000;
const MAX_BYTES = 1024 * 1024;

export function openProviders(
  { scanner, reputation }: { readonly scanner: ProviderAddress; readonly reputation: ProviderAddress },
  timeoutMs = TIMEOUT_MS,
): ThreatIntelProviders {
  const fetchFor = ({ isTrusted }: ProviderAddress) =>
    guardedFetch({ allowPrivate: isTrusted, timeoutMs, maxBytes: MAX_BYTES });
  return {
    scanner: new UrlScanner(scanner.url, fetchFor(scanner)),
    reputation: new DomainReputation(reputation.url, fetchFor(reputation)),
  };
}
