import { createHash } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { objectKey, objectPrefix, type ObjectStore } from '../../platform/objects/object-store.ts';
import type { StoredBundle } from './domain/events.ts';

const FOLDER = 'updates';
/** Below the largest object of the store. This much of an upload is in memory, not more. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** An upload takes at most minutes: a piece that nobody names an hour later was left behind. */
const ABANDONED_MS = 60 * 60_000;

/** The stored bytes are not those that were uploaded. */
export class BundleDamaged extends Error {
  constructor() {
    super('the stored bundle is damaged or incomplete');
    this.name = 'BundleDamaged';
  }
}

export type StoredBytes = Pick<StoredBundle, 'bundleId' | 'sha256' | 'bytes' | 'pieces'>;

const keyOf = (bundleId: string, piece: number): string => objectKey(FOLDER, bundleId, String(piece).padStart(6, '0'));

/** Bundles in the object store, in pieces, so that a bundle is never in memory as a whole. */
export class BundleStore {
  readonly #objects: ObjectStore;
  readonly #dataDir: string;

  constructor(objects: ObjectStore, dataDir: string) {
    this.#objects = objects;
    this.#dataDir = dataDir;
  }

  /** Stores a stream to its end. If that fails, nothing of it remains. Throws `ObjectStoreUnavailable`. */
  async put(bundleId: string, stream: Readable): Promise<StoredBytes> {
    const digest = createHash('sha256');
    let waiting: Buffer[] = [];
    let [size, bytes, pieces] = [0, 0, 0];
    const store = async (): Promise<void> => {
      const piece = Buffer.concat(waiting);
      [waiting, size] = [[], 0];
      await this.#objects.put(keyOf(bundleId, pieces), piece);
      pieces += 1;
    };
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        digest.update(chunk);
        waiting.push(chunk);
        size += chunk.length;
        bytes += chunk.length;
        if (size >= PIECE_BYTES) await store();
      }
      if (size > 0) await store();
    } catch (error) {
      await this.delete(bundleId).catch(() => undefined);
      throw error;
    }
    return { bundleId, sha256: digest.digest('hex'), bytes, pieces };
  }

  async delete(bundleId: string): Promise<void> {
    const keys: string[] = [];
    for await (const { key } of this.#objects.list(objectPrefix(FOLDER, bundleId))) keys.push(key);
    for (const key of keys) await this.#objects.delete(key);
  }

  /** Deletes bundles that are not in use, once they are an hour old. */
  async sweep(inUse: ReadonlySet<string>, now: number): Promise<void> {
    const left: string[] = [];
    for await (const { key, storedAt } of this.#objects.list(objectPrefix(FOLDER)))
      if (!inUse.has(key.split('/')[1]!) && now - storedAt > ABANDONED_MS) left.push(key);
    for (const key of left) await this.#objects.delete(key);
  }

  /**
   * Runs `work` with the path of a file that holds the bundle, readable by this user only, and deletes it afterwards.
   * Throws `BundleDamaged` before that if the bytes are not those of the digest: a user who can write to the object
   * store must not choose what is installed.
   */
  async withFile<T>(bundle: StoredBytes, work: (path: string) => Promise<T>): Promise<T> {
    const folder = join(this.#dataDir, FOLDER);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${bundle.bundleId}.bundle`);
    try {
      await this.#write(bundle, path);
      return await work(path);
    } finally {
      await rm(path, { force: true });
    }
  }

  async #write({ bundleId, sha256, pieces }: StoredBytes, path: string): Promise<void> {
    const digest = createHash('sha256');
    await rm(path, { force: true });
    const file = await open(path, 'wx', 0o600);
    try {
      for (let piece = 0; piece < pieces; piece += 1) {
        const content = await this.#objects.get(keyOf(bundleId, piece));
        if (!content) throw new BundleDamaged();
        digest.update(content);
        await file.writeFile(content);
      }
    } finally {
      await file.close();
    }
    if (digest.digest('hex') !== sha256) throw new BundleDamaged();
  }
}
