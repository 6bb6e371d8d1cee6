import type { GuardedFetch } from '../outbound/guarded-fetch.ts';
import {
  checkKey,
  checkPrefix,
  checkPut,
  isObjectKey,
  objectKey,
  ObjectStoreUnavailable,
  type ObjectStore,
  type StoredObject,
} from './object-store.ts';
import { s3Request, type S3Bucket, type S3Request } from './s3-request.ts';

/** From the environment: `S3_ENDPOINT` and related settings. */
export interface S3Settings extends S3Bucket {
  /** The operator trusts the endpoint: it may have a private address and use plain HTTP. */
  readonly isTrusted: boolean;
}

/** Nothing is stored under this key. "Not found" shows that the storage is reachable and accepts the credentials. */
const NOTHING = objectKey('health', 'nothing');

const MAX_IN_A_PAGE = 1_000;

/**
 * Objects in a bucket of Amazon S3 or a compatible service: path-style addresses, and Signature Version 4 that also
 * covers the content.
 */
export class S3Objects implements ObjectStore {
  readonly #settings: S3Settings;
  readonly #fetch: GuardedFetch;

  constructor(settings: S3Settings, fetch: GuardedFetch) {
    this.#settings = settings;
    this.#fetch = fetch;
  }

  async put(key: string, bytes: Buffer): Promise<void> {
    checkPut(key, bytes);
    const { status } = await this.#ask({ method: 'PUT', key, body: bytes });
    if (status !== 200) throw refused(status);
  }

  async get(key: string): Promise<Buffer | undefined> {
    checkKey(key);
    const response = await this.#ask({ method: 'GET', key });
    if (response.status === 404) return undefined;
    if (response.status !== 200) throw refused(response.status);
    return Buffer.from(await response.arrayBuffer());
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    const { status } = await this.#ask({ method: 'DELETE', key });
    if (status !== 204 && status !== 200 && status !== 404) throw refused(status);
  }

  async look(): Promise<void> {
    await this.get(NOTHING);
  }

  async *list(prefix: string): AsyncIterable<StoredObject> {
    checkPrefix(prefix);
    let continuation: string | undefined;
    do {
      const query = {
        'list-type': '2',
        'max-keys': String(MAX_IN_A_PAGE),
        prefix,
        ...(continuation ? { 'continuation-token': continuation } : {}),
      };
      const response = await this.#ask({ method: 'GET', query });
      if (response.status !== 200) throw refused(response.status);
      const page = await response.text();
      yield* objectsOn(page);
      continuation = nextPage(page);
    } while (continuation !== undefined);
  }

  async #ask(request: S3Request): Promise<Response> {
    try {
      return await s3Request(this.#settings, this.#fetch, request);
    } catch (error) {
      throw new ObjectStoreUnavailable('the object storage cannot be reached', error);
    }
  }
}

const refused = (status: number) => new ObjectStoreUnavailable(`the object storage responded with status ${status}`);

/** ListObjectsV2: names consist of letters, digits, hyphens and slashes, which XML does not escape. */
function* objectsOn(page: string): Iterable<StoredObject> {
  for (const [, content = ''] of page.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)) {
    const key = /<Key>([^<]*)<\/Key>/.exec(content)?.[1] ?? '';
    const storedAt = Date.parse(/<LastModified>([^<]*)<\/LastModified>/.exec(content)?.[1] ?? '');
    if (isObjectKey(key) && !Number.isNaN(storedAt)) yield { key, storedAt };
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

/** Undefined on the last page. The token is opaque and may contain any characters. */
function nextPage(page: string): string | undefined {
  if (!page.includes('<IsTruncated>true</IsTruncated>')) return undefined;
  const token = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/.exec(page)?.[1];
  if (token === undefined) throw new ObjectStoreUnavailable('the object storage returned an incomplete list');
  return token.replaceAll(/&(?:amp|lt|gt|quot|apos);/g, (entity) => ENTITIES[entity]!);
}
