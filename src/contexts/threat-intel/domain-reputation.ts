import { z } from 'zod';
import type { GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import { addressBelow, askProvider } from './ask-provider.ts';
import type { ProviderResults, ThreatIntelProvider } from './provider.ts';

const known = z.object({
  data: z.object({
    attributes: z.object({ last_analysis_stats: z.object({ malicious: z.int().min(0).max(100_000) }) }),
  }),
});

/**
 * The multi-vendor reputation service: `GET {base}/api/v3/domains/{domain}` with the key in `x-apikey`. The response
 * counts vendors by verdict. 404: the service does not know the domain.
 */
export class DomainReputation implements ThreatIntelProvider<'reputation'> {
  readonly #base: string;
  readonly #fetch: GuardedFetch;

  constructor(base: string, fetch: GuardedFetch) {
    this.#base = base;
    this.#fetch = fetch;
  }

  async lookUp(domain: string, apiKey: string): Promise<ProviderResults['reputation'] | undefined> {
    const address = addressBelow(this.#base, `api/v3/domains/${encodeURIComponent(domain)}`);
    const answer = await askProvider(this.#fetch, address, { 'x-apikey': apiKey }, known);
    return answer && { maliciousCount: answer.data.attributes.last_analysis_stats.malicious };
  }
}
