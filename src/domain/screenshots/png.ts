import { crc32 } from 'node:zlib';
import { ImageRefused, type Dimensions } from './image-parts.ts';

const BROKEN = 'is not a sound PNG image';
/** Length, type and check sum of a chunk (PNG, third edition, §5.3). */
const AROUND_DATA = 12;
const HEADER_BYTES = 13;
/** §11.2: what a reader may not pass over. */
const CRITICAL = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND']);
/** §11.2.1: the bit depths that each colour type goes with. */
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/** Walks all chunks, each with its check sum, from the header to the end, which must be the end of the bytes. */
export function walkPng(bytes: Buffer, from: number): Dimensions {
  let dimensions: Dimensions | undefined;
  let previous = '';
  let hasData = false;
  for (let at = from; at + AROUND_DATA <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const end = at + AROUND_DATA + length;
    if (end > bytes.length) break;
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) throw new ImageRefused(BROKEN);
    if (!/^[A-Za-z]{4}$/.test(type) || (isCritical(type) && !CRITICAL.has(type))) throw new ImageRefused(BROKEN);
    if ((type === 'IHDR') !== (dimensions === undefined)) throw new ImageRefused(BROKEN);
    if (type === 'IHDR') dimensions = headerOf(bytes.subarray(at + 8, end - 4));
    // §5.6: one stream in consecutive chunks.
    if (type === 'IDAT' && hasData && previous !== 'IDAT') throw new ImageRefused(BROKEN);
    hasData ||= type === 'IDAT' && length > 0;
    if (type === 'IEND') {
      if (length !== 0 || !hasData) throw new ImageRefused(BROKEN);
      if (end !== bytes.length) throw new ImageRefused('has something behind its end');
      return dimensions!;
    }
    previous = type;
    at = end;
  }
  throw new ImageRefused(BROKEN);
}

/** §5.4: the case of the first letter says so. */
const isCritical = (type: string): boolean => type[0]! < 'a';

function headerOf(data: Buffer): Dimensions {
  if (data.length !== HEADER_BYTES) throw new ImageRefused(BROKEN);
  const [depth, colour, compression, filter, interlace] = [...data.subarray(8)] as [
    number,
    number,
    number,
    number,
    number,
  ];
  if (!DEPTHS[colour]?.includes(depth) || compression !== 0 || filter !== 0 || interlace > 1)
    throw new ImageRefused(BROKEN);
  return { width: data.readUInt32BE(0), height: data.readUInt32BE(4) };
}
