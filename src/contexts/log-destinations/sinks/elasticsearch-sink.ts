import type { GuardedFetch } from '../../../platform/outbound/guarded-fetch.ts';
import type { ConfigOf } from '../domain/config.ts';
import { failureOfStatus, jsonObject, post } from './sink-http.ts';
import { REQUEST_LIMITS, SinkFailed, type OutgoingRecord, type SinkRefusal, type Sink } from './sink.ts';

/** Only what decides about an item: a response for a thousand items stays small. */
const FILTER = 'filter_path=errors,items.*.status,items.*.error.type';
const EXISTS = 409;

/**
 * Elasticsearch and OpenSearch, by `_bulk`. Each document has an id that follows from its record, and is only created:
 * a record that is sent again is recognized (409). Works for indexes and data streams.
 */
export class ElasticsearchSink implements Sink {
  readonly limits = REQUEST_LIMITS;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #isJson: boolean;
  readonly #fetch: GuardedFetch;

  constructor(
    { url, index }: ConfigOf<'elasticsearch'>,
    {
      apiKey,
      isJson,
      fetch,
    }: { readonly apiKey: string | null; readonly isJson: boolean; readonly fetch: GuardedFetch },
  ) {
    this.#url = `${url}/${encodeURIComponent(index)}/_bulk?${FILTER}`;
    this.#isJson = isJson;
    this.#fetch = fetch;
    this.#headers = {
      'content-type': 'application/x-ndjson',
      ...(apiKey === null ? {} : { authorization: authorizationOf(apiKey) }),
    };
  }

  async send(batch: readonly OutgoingRecord[], signal: AbortSignal): Promise<readonly SinkRefusal[]> {
    const body = batch.map((one) => this.#itemOf(one)).join('');
    const response = await post(this.#fetch, this.#url, { headers: this.#headers, body, signal });
    if (response.status !== 200) throw failureOfStatus(response.status);
    const { errors, items } = await jsonObject(response);
    if (errors === false) return [];
    if (!Array.isArray(items) || items.length !== batch.length)
      throw new SinkFailed('the response is not one of a bulk request');
    return items.flatMap((item, index) => refusalOf(item, index));
  }

  async confirm(): Promise<void> {
    // Each response was an acknowledgement.
  }

  close(): void {
    // Idle connections end by themselves.
  }

  #itemOf({ record, line }: OutgoingRecord): string {
    const at = JSON.stringify({ '@timestamp': record.timestamp }).slice(0, -1);
    const document = this.#isJson ? `${at},${line.slice(1)}` : `${at},"message":${JSON.stringify(line)}}`;
    return `{"create":{"_id":"${record.type}-${record.id}"}}\n${document}\n`;
  }
}

/** An encoded API key is base64, without a colon. `user:password` is for basic authentication (RFC 7617). */
const authorizationOf = (credential: string): string =>
  credential.includes(':') ? `Basic ${Buffer.from(credential).toString('base64')}` : `ApiKey ${credential}`;

/** Throws if the item may succeed later: then the whole batch is sent again, and what was created is recognized. */
function refusalOf(item: unknown, index: number): SinkRefusal[] {
  const { create } = (item ?? {}) as { create?: { status?: unknown; error?: { type?: unknown } } };
  const status = Number(create?.status);
  if ((status >= 200 && status < 300) || status === EXISTS) return [];
  if (status !== 400 && status !== 413) throw failureOfStatus(status);
  const type = String(create?.error?.type ?? '');
  return [{ index, reason: /^[a-z_]{1,80}$/.test(type) ? type : 'the destination refuses the content' }];
}
