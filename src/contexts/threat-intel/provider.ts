import type { ScanService } from './domain/services.ts';

/** What each service says about a domain. */
export interface ProviderResults {
  readonly scanner: { readonly isMalicious: boolean };
  readonly reputation: { readonly maliciousCount: number };
}

/** Why a service did not answer, in fixed words: nothing of the key, and nothing of what came back. */
export class ProviderFailed extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ProviderFailed';
  }
}

/** One service, asked with a tenant's own key. One call each, bounded in time and size, never repeated. Throws `ProviderFailed`. */
export interface ThreatIntelProvider<Service extends ScanService = ScanService> {
  lookUp(domain: string, apiKey: string): Promise<ProviderResults[Service]>;
}

export type ThreatIntelProviders = { readonly [Service in ScanService]: ThreatIntelProvider<Service> };
