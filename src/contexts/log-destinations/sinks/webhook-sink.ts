import type { GuardedFetch } from '../../../platform/outbound/guarded-fetch.ts';
import type { ConfigOf } from '../domain/config.ts';
import { failureOfStatus, isAboutContent, post, sendHalving } from './sink-http.ts';
import { REQUEST_LIMITS, type OutgoingRecord, type SinkRefusal, type Sink } from './sink.ts';

/** Posts batches, as lines or as one JSON array. Any 2xx acknowledges one. */
export class WebhookSink implements Sink {
  readonly limits = REQUEST_LIMITS;
  readonly #config: ConfigOf<'webhook'>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #isJson: boolean;
  readonly #fetch: GuardedFetch;

  constructor(
    config: ConfigOf<'webhook'>,
    { token, isJson, fetch }: { readonly token: string | null; readonly isJson: boolean; readonly fetch: GuardedFetch },
  ) {
    this.#config = config;
    this.#isJson = isJson;
    this.#fetch = fetch;
    this.#headers = {
      ...config.headers,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      'content-type': config.payload === 'array' ? 'application/json' : isJson ? 'application/x-ndjson' : 'text/plain',
    };
  }

  send(batch: readonly OutgoingRecord[], signal: AbortSignal): Promise<readonly SinkRefusal[]> {
    return sendHalving(batch, async (part) => {
      const request = { headers: this.#headers, body: this.#bodyOf(part), signal };
      const { status } = await post(this.#fetch, this.#config.url, request);
      if (status >= 200 && status < 300) return true;
      if (isAboutContent(status)) return false;
      throw failureOfStatus(status);
    });
  }

  async confirm(): Promise<void> {
    // Each response was an acknowledgement.
  }

  close(): void {
    // Idle connections end by themselves.
  }

  #bodyOf(part: readonly OutgoingRecord[]): string {
    if (this.#config.payload === 'ndjson') return part.map(({ line }) => `${line}\n`).join('');
    return `[${part.map(({ line }) => (this.#isJson ? line : JSON.stringify(line))).join(',')}]`;
  }
}
