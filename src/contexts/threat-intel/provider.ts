import type { ScanService } from './domain/services.ts';

/** What each service says about a domain. */
export interface Answers {
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
export interface Provider<Service extends ScanService = ScanService> {
  lookUp(domain: string, apiKey: string): Promise<Answers[Service]>;
}

export type Providers = { readonly [Service in ScanService]: Provider<Service> };
