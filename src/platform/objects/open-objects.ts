import { join } from 'node:path';
import { guardedFetch } from '../outbound/guarded-fetch.ts';
import { DirectoryObjects } from './directory-objects.ts';
import { MAX_OBJECT_BYTES, type ObjectStore } from './object-store.ts';
import { S3Objects, type S3Settings } from './s3-objects.ts';

const TIMEOUT_MS = 20_000;

/** The directory of the objects, if no bucket is configured. */
export const objectsIn = (dataDir: string): string => join(dataDir, 'objects');

/** A bucket if one is configured; otherwise a directory beside the keys and the embedded database. */
export function openObjects({
  dataDir,
  s3,
}: {
  readonly dataDir: string;
  readonly s3: S3Settings | undefined;
}): ObjectStore {
  if (!s3) return new DirectoryObjects(objectsIn(dataDir));
  return new S3Objects(
    s3,
    guardedFetch({ allowPrivate: s3.isTrusted, timeoutMs: TIMEOUT_MS, maxBytes: MAX_OBJECT_BYTES }),
  );
}
