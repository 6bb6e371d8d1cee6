import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { noFolder, requireUsableFolder } from '../usable-folder.ts';
import {
  checkKey,
  checkPrefix,
  checkPut,
  MAX_OBJECT_BYTES,
  isObjectKey,
  ObjectStoreUnavailable,
  type ObjectStore,
  type StoredObject,
} from './object-store.ts';

/** Object names contain no dot, so an unfinished file is never taken for an object. */
const UNFINISHED = '.part';
const ABANDONED_MS = 60 * 60_000;

/**
 * Objects as files below one directory, for an installation on one machine. Readable only by the service's own user.
 */
export class DirectoryObjects implements ObjectStore {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async put(key: string, bytes: Buffer): Promise<void> {
    checkPut(key, bytes);
    const path = join(this.#root, key);
    const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
    await orUnavailable(async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        await written(unfinished, bytes);
        // On one file system a rename is atomic: no reader ever sees half an object.
        await rename(unfinished, path);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    });
  }

  async get(key: string): Promise<Buffer | undefined> {
    checkKey(key);
    return orUnavailable(async () => (await unlessMissing(contentOf(join(this.#root, key)))) ?? this.#nothing(key));
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    await orUnavailable(async () => {
      await rm(join(this.#root, key), { force: true });
      this.#nothing(key);
    });
  }

  /**
   * What is not there is gone only if its directory can be looked at. Where a link leads to nothing, as without the mount behind it,
   * the objects are elsewhere, and none of them has been deleted.
   */
  #nothing(name: string): undefined {
    const folders = name.split('/').slice(0, -1);
    for (let depth = 0; depth <= folders.length; depth += 1) {
      const folder = join(this.#root, ...folders.slice(0, depth));
      const kind = noFolder(folder);
      if (kind !== undefined) throw new Error(`${folder} is ${kind}, where a folder must be`);
    }
    return undefined;
  }

  async look(): Promise<void> {
    await orUnavailable(async () => requireUsableFolder(this.#root));
  }

  async *list(prefix: string): AsyncIterable<StoredObject> {
    checkPrefix(prefix);
    yield* this.#below(prefix);
  }

  async *#below(prefix: string): AsyncIterable<StoredObject> {
    const entries = await orUnavailable(
      async () =>
        (await unlessMissing(readdir(join(this.#root, prefix), { withFileTypes: true }))) ?? this.#nothing(prefix),
    );
    for (const entry of entries ?? []) {
      const name = `${prefix}${entry.name}`;
      if (entry.isDirectory()) yield* this.#below(`${name}/`);
      else if (entry.isFile()) {
        const { mtimeMs } = (await orUnavailable(() => unlessMissing(stat(join(this.#root, name))))) ?? {
          mtimeMs: undefined,
        };
        if (mtimeMs === undefined) continue;
        if (isObjectKey(name)) yield { key: name, storedAt: mtimeMs };
        else if (name.endsWith(UNFINISHED)) await this.#clear(name, mtimeMs);
      }
    }
  }

  /** Deletes files that a crash left unfinished, once they are an hour old. */
  async #clear(name: string, begunAt: number): Promise<void> {
    if (Date.now() - begunAt > ABANDONED_MS) await orUnavailable(() => rm(join(this.#root, name), { force: true }));
  }
}

/** Without `O_NONBLOCK`, a named pipe would hold a thread of the process until somebody writes to it. */
async function contentOf(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error(`${path} is no file`);
    if (found.size > MAX_OBJECT_BYTES) throw new Error(`${path} is too large`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Returns once the bytes are on the disk, because an event that names the object may be appended right after. */
async function written(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const unlessMissing = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });

/** Only operators may see paths, so they are in the cause and not in the message. */
async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ObjectStoreUnavailable('the object directory cannot be used', error);
  }
}
