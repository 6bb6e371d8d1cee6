import type { ScanService } from './domain/services.ts';

/** Each service's result about a domain that it knows. */
export interface ProviderResults {
  readonly scanner: { readonly isMalicious: boolean };
  readonly reputation: { readonly maliciousCount: number };
}

/** A service failed. Messages are fixed texts without the key and without content of the response. */
export class ProviderFailed extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ProviderFailed';
  }
}

/**
 * One service, called with a tenant's own key. One call, limited in time and size, never retried. Throws
 * `ProviderFailed`.
 */
export interface ThreatIntelProvider<Service extends ScanService = ScanService> {
  /** Undefined: the service knows nothing about the domain. */
  lookUp(domain: string, apiKey: string): Promise<ProviderResults[Service] | undefined>;
}

export type ThreatIntelProviders = { readonly [Service in ScanService]: ThreatIntelProvider<Service> };
