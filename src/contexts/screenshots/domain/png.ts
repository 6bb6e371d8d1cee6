import { crc32 } from 'node:zlib';
import { ImageRefused, type Dimensions } from './image-parts.ts';

const BROKEN = 'is not a valid PNG image';
/** Bytes of length, type and checksum of a chunk (PNG, third edition, §5.3). */
const AROUND_DATA = 12;
const HEADER_BYTES = 13;
/** §11.2: critical chunks, which a decoder must understand. */
const CRITICAL = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND']);
/** §11.2.1: the bit depths allowed for each colour type. */
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/** Parses all chunks and verifies their checksums. The end chunk must be the end of the bytes. */
export function walkPng(bytes: Buffer, from: number): Dimensions {
  let dimensions: Dimensions | undefined;
  let previous = '';
  let hasData = false;
  for (let at = from; ;) {
    const { type, data, end } = chunkAt(bytes, at);
    if ((type === 'IHDR') !== (dimensions === undefined)) throw new ImageRefused(BROKEN);
    dimensions ??= headerOf(data);
    // §5.6: the image data is one stream in consecutive chunks.
    if (type === 'IDAT' && hasData && previous !== 'IDAT') throw new ImageRefused(BROKEN);
    hasData ||= type === 'IDAT' && data.length > 0;
    if (type === 'IEND') {
      if (data.length > 0 || !hasData) throw new ImageRefused(BROKEN);
      if (end !== bytes.length) throw new ImageRefused('has data after its end');
      return dimensions;
    }
    previous = type;
    at = end;
  }
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
  readonly end: number;
}

/** Reads one chunk and verifies its checksum. Refuses unknown critical chunks. */
function chunkAt(bytes: Buffer, at: number): Chunk {
  if (at + AROUND_DATA > bytes.length) throw new ImageRefused(BROKEN);
  const end = at + AROUND_DATA + bytes.readUInt32BE(at);
  if (end > bytes.length) throw new ImageRefused(BROKEN);
  if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) throw new ImageRefused(BROKEN);
  const type = bytes.toString('latin1', at + 4, at + 8);
  if (!/^[A-Za-z]{4}$/.test(type) || (isCritical(type) && !CRITICAL.has(type))) throw new ImageRefused(BROKEN);
  return { type, data: bytes.subarray(at + 8, end - 4), end };
}

/** §5.4: the case of the first letter marks a critical chunk. */
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
