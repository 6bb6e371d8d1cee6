import type { ReplayedEntry } from './chain-replay.ts';

const DIGEST = 32; // bytes of SHA-256

/** The hashes of consecutive entries, as bytes: copying thousands of strings between threads would be slow. */
export interface EntryHashes {
  /** The sequence of the first entry. */
  readonly first: number;
  readonly bytes: Uint8Array;
}

/** Hex; undefined if the entry is not included. */
export function hashAtSequence({ first, bytes }: EntryHashes, sequence: number): string | undefined {
  const start = (sequence - first) * DIGEST;
  if (start < 0 || start >= bytes.length) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, DIGEST).toString('hex');
}

/** The same lookup in an array of entries. */
export const hashOfEntry = (entries: readonly ReplayedEntry[], sequence: number): string | undefined =>
  entries[sequence - (entries[0]?.sequence ?? 0)]?.hash;
