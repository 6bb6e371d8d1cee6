/**
 * Segments of object names and prefixes: ids and days between slashes, so that a name cannot lead to another
 * directory.
 */
const SEGMENT = /^[0-9a-z]+(?:-[0-9a-z]+)*$/;
const LONGEST_SEGMENT = 64;
const MAX_SEGMENTS = 8;
export const MAX_OBJECT_BYTES = 8 * 1024 * 1024;

const isSegment = (text: string): boolean => text.length <= LONGEST_SEGMENT && SEGMENT.test(text);

/** An object's name, e.g. `screenshots/<tenant>/<person>/<screenshot>`. Throws if a segment is not an id. */
export function objectKey(...segments: readonly string[]): string {
  if (segments.length < 2 || segments.length > MAX_SEGMENTS || !segments.every(isSegment))
    throw new TypeError('an object name consists of 2 to 8 ids');
  return segments.join('/');
}

/** The common prefix of a group of names. It ends with a slash, so that one id is never a prefix of another. */
export function objectPrefix(...segments: readonly string[]): string {
  if (segments.length === 0 || segments.length >= MAX_SEGMENTS || !segments.every(isSegment))
    throw new TypeError('a prefix of object names consists of 1 to 7 ids');
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

/** The object store does not respond, or responds with an error. The message contains nothing from its response. */
export class ObjectStoreUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'ObjectStoreUnavailable';
  }
}

/**
 * Bytes under a name, outside the databases: stored completely or not at all, at most 8 MiB, replaced by a second
 * `put`. Names come from `objectKey`; any other name throws. Content is sealed before it comes here. Throws
 * `ObjectStoreUnavailable`.
 */
export interface ObjectStore {
  put(key: string, bytes: Buffer): Promise<void>;
  get(key: string): Promise<Buffer | undefined>;
  /** Deleting a missing object succeeds. */
  delete(key: string): Promise<void>;
  /**
   * All objects whose name begins with `prefix`, in no order. Objects that are added or deleted meanwhile may or may
   * not be included.
   */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Rejects if objects can be neither stored nor read now, as far as that can be told without storing one. */
  look(): Promise<void>;
}

/** Refuses an invalid name or size, for all adapters. */
export function checkPut(key: string, bytes: Buffer): void {
  checkKey(key);
  if (bytes.length > MAX_OBJECT_BYTES) throw new RangeError('the object is too large');
}

export function checkKey(key: string): void {
  if (!isObjectKey(key)) throw new TypeError('not an object name');
}

export function checkPrefix(prefix: string): void {
  if (!prefix.endsWith('/') || !prefix.slice(0, -1).split('/').every(isSegment))
    throw new TypeError('not a prefix of object names');
}
