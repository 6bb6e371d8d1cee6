import { z } from 'zod';
import type { GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import { addressBelow, askProvider } from './ask-provider.ts';
import type { ProviderResults, ThreatIntelProvider } from './provider.ts';

const MAX_RESULTS = 20;

const found = z.object({
  results: z
    .array(
      z.object({
        verdicts: z
          .object({
            malicious: z.boolean().optional(),
            overall: z.object({ malicious: z.boolean().optional() }).optional(),
          })
          .nullish(),
      }),
    )
    .max(1_000),
});

/**
 * The URL scanning service: `GET {base}/api/v1/search/?q=page.domain:"…"` with the key in `API-Key`. The response lists
 * scans of the domain's pages and their verdicts; without a verdict, the service knows nothing. Only existing scans are read. Ordering a scan would disclose a page
 * that an employee visits to a third party and to its owner.
 */
export class UrlScanner implements ThreatIntelProvider<'scanner'> {
  readonly #base: string;
  readonly #fetch: GuardedFetch;

  constructor(base: string, fetch: GuardedFetch) {
    this.#base = base;
    this.#fetch = fetch;
  }

  async lookUp(domain: string, apiKey: string): Promise<ProviderResults['scanner'] | undefined> {
    const address = addressBelow(this.#base, 'api/v1/search/');
    address.searchParams.set('q', `page.domain:"${domain}"`);
    address.searchParams.set('size', String(MAX_RESULTS));
    const { results } = (await askProvider(this.#fetch, address, { 'api-key': apiKey }, found)) ?? { results: [] };
    const verdicts = results.flatMap(({ verdicts: of }) => [of?.malicious, of?.overall?.malicious]);
    const known = verdicts.filter((verdict) => verdict !== undefined);
    return known.length === 0 ? undefined : { isMalicious: known.includes(true) };
  }
}
