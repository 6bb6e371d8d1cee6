/** Names of objects and of what they have in common: ids and days between slashes, so that no name can lead anywhere else. */
const SEGMENT = /^[0-9a-z]+(?:-[0-9a-z]+)*$/;
const LONGEST_SEGMENT = 64;
const MAX_SEGMENTS = 8;
export const MAX_OBJECT_BYTES = 8 * 1024 * 1024;

const isSegment = (text: string): boolean => text.length <= LONGEST_SEGMENT && SEGMENT.test(text);

/** An object's name, e.g. `screenshots/<tenant>/<person>/<screenshot>`. Throws where a part is not an id. */
export function objectKey(...segments: readonly string[]): string {
  if (segments.length < 2 || segments.length > MAX_SEGMENTS || !segments.every(isSegment))
    throw new TypeError('an object is named by ids');
  return segments.join('/');
}

/** What the names of a group begin with; ends with a slash, so that one id is never the beginning of another. */
export function objectPrefix(...segments: readonly string[]): string {
  if (segments.length === 0 || segments.length >= MAX_SEGMENTS || !segments.every(isSegment))
    throw new TypeError('objects are grouped by ids');
  return `${segments.join('/')}/`;
}

export const isObjectKey = (text: string): boolean => {
  const segments = text.split('/');
  return segments.length >= 2 && segments.length <= MAX_SEGMENTS && segments.every(isSegment);
};

export interface StoredObject {
  readonly key: string;
  /** Epoch milliseconds. */
  readonly storedAt: number;
}

/** The place for bytes does not answer, or not as it should. Says nothing about what it said. */
export class ObjectStoreUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'ObjectStoreUnavailable';
  }
}

/**
 * Bytes under a name, beside the databases: whole or not at all, at most 8 MiB, replaced by a second `put`. Names come from
 * `objectKey`; anything else throws. What is kept is sealed before it comes here. Throws `ObjectStoreUnavailable`.
 */
export interface ObjectStore {
  put(key: string, bytes: Buffer): Promise<void>;
  get(key: string): Promise<Buffer | undefined>;
  /** What is not there is deleted already. */
  delete(key: string): Promise<void>;
  /** Every object whose name begins with this, in no order; what comes and goes meanwhile may or may not be among them. */
  list(prefix: string): AsyncIterable<StoredObject>;
}

/** Refuses what no adapter may be asked for. */
export function checkPut(key: string, bytes: Buffer): void {
  checkKey(key);
  if (bytes.length > MAX_OBJECT_BYTES) throw new RangeError('the object is too large');
}

export function checkKey(key: string): void {
  if (!isObjectKey(key)) throw new TypeError('not the name of an object');
}

export function checkPrefix(prefix: string): void {
  if (!prefix.endsWith('/') || !prefix.slice(0, -1).split('/').every(isSegment))
    throw new TypeError('not the beginning of a name');
}
