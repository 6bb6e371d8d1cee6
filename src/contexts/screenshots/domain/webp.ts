import { ImageRefused, type Dimensions } from './image-parts.ts';

const BROKEN = 'is not a valid WebP image';
const HEADER = 12;
const CHUNK_HEADER = 8;
const ANIMATED = 0x02;
/** RFC 9649 §2.7: chunks that an extended still image may contain besides the image data. */
const BESIDE = new Set(['ICCP', 'ALPH', 'EXIF', 'XMP ']);

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/**
 * Parses all chunks (RFC 9649). The end that the header names must be the end of the bytes. Accepts one still image.
 */
export function walkWebp(bytes: Buffer): Dimensions {
  const size = bytes.readUInt32LE(4) + 8;
  if (size < bytes.length) throw new ImageRefused('has data after its end');
  if (size > bytes.length || size % 2 !== 0) throw new ImageRefused(BROKEN);
  const chunks = chunksOf(bytes);
  const [first] = chunks;
  const pictures = chunks.filter(({ type }) => type === 'VP8 ' || type === 'VP8L');
  if (!first || pictures.length !== 1) throw new ImageRefused(BROKEN);
  const inside = pictureSize(pictures[0]!);
  if (first.type !== 'VP8X') {
    if (chunks.length !== 1) throw new ImageRefused(BROKEN);
    return inside;
  }
  const canvas = canvasSize(first.data);
  if (chunks.slice(1).some((chunk) => !pictures.includes(chunk) && !BESIDE.has(chunk.type)))
    throw new ImageRefused(BROKEN);
  if (canvas.width !== inside.width || canvas.height !== inside.height) throw new ImageRefused(BROKEN);
  return canvas;
}

function chunksOf(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  let at = HEADER;
  while (at < bytes.length) {
    if (at + CHUNK_HEADER > bytes.length) throw new ImageRefused(BROKEN);
    const length = bytes.readUInt32LE(at + 4);
    const end = at + CHUNK_HEADER + length;
    if (end > bytes.length) throw new ImageRefused(BROKEN);
    chunks.push({ type: bytes.toString('latin1', at, at + 4), data: bytes.subarray(at + CHUNK_HEADER, end) });
    // Chunks begin at even offsets; the padding byte is zero.
    if (length % 2 === 1 && bytes[end] !== 0) throw new ImageRefused(BROKEN);
    at = end + (length % 2);
  }
  return chunks;
}

/** §2.5 and §2.6: the header of a key frame (RFC 6386 §9.1), or of the lossless stream. */
function pictureSize({ type, data }: Chunk): Dimensions {
  if (type === 'VP8 ') {
    const isKeyFrame = data.length >= 10 && (data[0]! & 1) === 0 && data.readUIntBE(3, 3) === 0x9d012a;
    if (!isKeyFrame) throw new ImageRefused(BROKEN);
    return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
  }
  if (data.length < 5 || data[0] !== 0x2f) throw new ImageRefused(BROKEN);
  const bits = data.readUInt32LE(1);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

function canvasSize(data: Buffer): Dimensions {
  if (data.length !== 10) throw new ImageRefused(BROKEN);
  if ((data[0]! & ANIMATED) !== 0) throw new ImageRefused('must not be animated');
  return { width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 };
}
