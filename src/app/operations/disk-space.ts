import { statfs } from 'node:fs/promises';

/** PostgreSQL stops when it cannot write its log, whose files have 16 MiB: there is time to act before. */
const LOW_BYTES = 256 * 1024 ** 2;
/** A small volume, which holds no database, is not low while most of it is free. */
const LOW_SHARE = 0.05;

interface Space {
  /** Without what only root may use. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

export async function diskSpaceOf(folder: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

const isLow = ({ freeBytes, sizeBytes }: Space): boolean => freeBytes < Math.min(LOW_BYTES, sizeBytes * LOW_SHARE);

/** For `/health`: undefined if the disk of DATA_DIR has room. What it holds is nobody's business who asks. */
export async function lackOfSpace(dataDir: string): Promise<string | undefined> {
  return isLow(await diskSpaceOf(dataDir)) ? 'the disk of DATA_DIR is almost full' : undefined;
}
