import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { s3Request, type S3Bucket } from '../../../platform/objects/s3-request.ts';
import type { GuardedFetch } from '../../../platform/outbound/guarded-fetch.ts';
import type { ConfigOf } from '../domain/config.ts';
import { failed, failureOfStatus } from './sink-http.ts';
import { SinkFailed, type OutgoingRecord, type SinkRefusal, type Sink, type SinkLimits } from './sink.ts';

const compress = promisify(gzip);
const POSITION_DIGITS = 20;

const LIMITS: SinkLimits = {
  batchRecords: 5_000,
  batchBytes: 1024 * 1024,
  unconfirmedRecords: 100_000,
  unconfirmedBytes: 16 * 1024 * 1024,
  quietMs: 0,
  ageMs: 60_000,
  isHourly: true,
};

/**
 * Objects of gzip-compressed lines in a bucket: `<prefix>/<tenant>/<yyyy>/<mm>/<dd>/<hh>/<first position>.log.gz`.
 * Batches are compressed as they come, one gzip member each (RFC 1952 §2.2). The object is written by `confirm`; its
 * name follows from its first record, so that the same records replace it when they are sent again.
 */
export class S3Sink implements Sink {
  readonly limits = LIMITS;
  readonly #bucket: S3Bucket;
  readonly #prefix: string;
  readonly #fetch: GuardedFetch;
  #key: string | undefined;
  #members: Buffer[] = [];

  constructor(
    config: ConfigOf<'s3'>,
    {
      secretAccessKey,
      fetch,
      folder,
    }: { readonly secretAccessKey: string; readonly fetch: GuardedFetch; readonly folder?: string | undefined },
  ) {
    this.#bucket = { ...config, secretAccessKey };
    this.#prefix = folder === undefined ? config.prefix : `${config.prefix}/${folder}`;
    this.#fetch = fetch;
  }

  async send(batch: readonly OutgoingRecord[]): Promise<readonly SinkRefusal[]> {
    this.#key ??= this.#keyOf(batch[0]!);
    this.#members.push(await compress(batch.map(({ line }) => `${line}\n`).join('')));
    return [];
  }

  async confirm(signal: AbortSignal): Promise<void> {
    if (this.#key === undefined) return;
    const body = Buffer.concat(this.#members);
    const request = { method: 'PUT', key: this.#key, body, signal } as const;
    const response = await s3Request(this.#bucket, this.#fetch, request).catch((error: unknown) => {
      throw failed(error);
    });
    if (response.status !== 200)
      throw response.status === 404 ? new SinkFailed('the bucket does not exist') : failureOfStatus(response.status);
    this.close();
  }

  close(): void {
    this.#key = undefined;
    this.#members = [];
  }

  /** The hour is that of the first event's time in the log: the record's own time may be that of a device. */
  #keyOf({ record, position, recordedAt }: OutgoingRecord): string {
    const [year, month, day, hour] = new Date(recordedAt).toISOString().split(/[-T:]/);
    const name = String(position).padStart(POSITION_DIGITS, '0');
    return `${this.#prefix}/${record.tenantId}/${year}/${month}/${day}/${hour}/${name}.log.gz`;
  }
}
