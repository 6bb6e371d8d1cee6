import type { ReplayedEntry } from './chain-replay.ts';

const DIGEST = 32; // bytes of SHA-256

/** The hashes of entries that follow one another, as bytes: strings by the thousand would be copied from thread to thread one by one. */
export interface EntryHashes {
  /** The sequence of the first. */
  readonly first: number;
  readonly bytes: Uint8Array;
}

/** Hex; undefined for an entry that is not among them. */
export function hashAtSequence({ first, bytes }: EntryHashes, sequence: number): string | undefined {
  const start = (sequence - first) * DIGEST;
  if (start < 0 || start >= bytes.length) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, DIGEST).toString('hex');
}

/** The same, of entries. */
export const hashOfEntry = (entries: readonly ReplayedEntry[], sequence: number): string | undefined =>
  entries[sequence - (entries[0]?.sequence ?? 0)]?.hash;
