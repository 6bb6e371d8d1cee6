import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedFetch } from '../../../platform/outbound/guarded-fetch.ts';
import type { ConfigOf } from '../domain/config.ts';
import { failureOfStatus, isAboutContent, jsonObject, post, sendHalving } from './sink-http.ts';
import { REQUEST_LIMITS, SinkFailed, type OutgoingRecord, type SinkRefusal, type Sink } from './sink.ts';

/** Status code of the collector's body for an index that the token may not use or that does not exist. */
const INCORRECT_INDEX = 7;
const ACK_POLL_MS = 250;
const ACK_TIMEOUT_MS = 60_000;
const COLLECTOR = '/services/collector';

/**
 * Splunk's HTTP Event Collector. If the token has indexer acknowledgement, responses hold an `ackId`, and a batch is
 * acknowledged once the indexer reports that id. Otherwise the response acknowledges.
 */
export class SplunkSink implements Sink {
  readonly limits = REQUEST_LIMITS;
  readonly #config: ConfigOf<'splunk_hec'>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #channel = randomUUID();
  readonly #isJson: boolean;
  readonly #fetch: GuardedFetch;
  #awaited = new Set<number>();

  constructor(
    config: ConfigOf<'splunk_hec'>,
    { token, isJson, fetch }: { readonly token: string; readonly isJson: boolean; readonly fetch: GuardedFetch },
  ) {
    this.#config = config;
    this.#isJson = isJson;
    this.#fetch = fetch;
    this.#headers = {
      authorization: `Splunk ${token}`,
      'content-type': 'application/json',
      'x-splunk-request-channel': this.#channel,
    };
  }

  send(batch: readonly OutgoingRecord[], signal: AbortSignal): Promise<readonly SinkRefusal[]> {
    return sendHalving(batch, async (part) => {
      const body = part.map((one) => this.#eventOf(one)).join('\n');
      const response = await post(this.#fetch, this.#address('/event'), { headers: this.#headers, body, signal });
      const { code, ackId } = await jsonObject(response);
      if (response.status === 200) {
        if (typeof ackId === 'number') this.#awaited.add(ackId);
        return true;
      }
      if (code === INCORRECT_INDEX) throw new SinkFailed('the destination does not accept the index');
      if (isAboutContent(response.status)) return false;
      throw failureOfStatus(response.status);
    });
  }

  async confirm(signal: AbortSignal): Promise<void> {
    const deadline = Date.now() + ACK_TIMEOUT_MS;
    while (this.#awaited.size > 0) {
      await this.#askForAcks(signal);
      if (this.#awaited.size === 0) return;
      if (Date.now() > deadline) throw new SinkFailed('the indexer does not acknowledge');
      await sleep(ACK_POLL_MS, undefined, { signal });
    }
  }

  close(): void {
    this.#awaited = new Set();
  }

  async #askForAcks(signal: AbortSignal): Promise<void> {
    const response = await post(this.#fetch, this.#address(`/ack?channel=${this.#channel}`), {
      headers: this.#headers,
      body: JSON.stringify({ acks: [...this.#awaited] }),
      signal,
    });
    if (response.status !== 200) throw failureOfStatus(response.status);
    const { acks } = await jsonObject(response);
    for (const [id, isIndexed] of Object.entries(typeof acks === 'object' && acks !== null ? acks : {}))
      if (isIndexed === true) this.#awaited.delete(Number(id));
  }

  /** The collector's address may be given with or without its path. */
  #address(path: string): string {
    const base = this.#config.url.replace(/\/services\/collector(?:\/event)?$/, '');
    return `${base}${COLLECTOR}${path}`;
  }

  #eventOf({ record, line }: OutgoingRecord): string {
    const { index, sourceType } = this.#config;
    const meta = JSON.stringify({
      time: Date.parse(record.timestamp) / 1_000,
      host: 'castellan',
      source: `castellan:${record.type}`,
      sourcetype: sourceType,
      ...(index === null ? {} : { index }),
    });
    return `${meta.slice(0, -1)},"event":${this.#isJson ? line : JSON.stringify(line)}}`;
  }
}
