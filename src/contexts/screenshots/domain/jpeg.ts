import { ImageRefused, type Dimensions } from './image-parts.ts';

const BROKEN = 'is not a valid JPEG image';
/** Markers of ITU-T T.81, table B.1. */
const START_OF_IMAGE = 0xd8;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;
const STUFFED = 0x00;
const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7;
/** Baseline, extended and progressive frames: the ones that browsers write and read. */
const FRAMES: readonly number[] = [0xc0, 0xc1, 0xc2];
/** Tables, restart interval, comments and application data: segments that may occur between frames. */
const isTable = (marker: number) =>
  marker === 0xc4 || marker === 0xdb || marker === 0xdd || marker === 0xfe || (marker >= 0xe0 && marker <= 0xef);

/** Parses all segments and the entropy-coded data between them. The end marker must be the end of the bytes. */
export function walkJpeg(bytes: Buffer): Dimensions {
  let dimensions: Dimensions | undefined;
  let scans = 0;
  for (let at = 2; at < bytes.length;) {
    const marker = markerAt(bytes, at);
    if (marker.code === END_OF_IMAGE) {
      if (!dimensions || scans === 0) throw new ImageRefused(BROKEN);
      if (marker.end !== bytes.length) throw new ImageRefused('has data after its end');
      return dimensions;
    }
    const end = segmentEnd(bytes, marker.end);
    if (FRAMES.includes(marker.code)) {
      if (dimensions) throw new ImageRefused(BROKEN);
      dimensions = frameOf(bytes.subarray(marker.end + 2, end));
    } else if (marker.code === START_OF_SCAN) {
      if (!dimensions) throw new ImageRefused(BROKEN);
      scans += 1;
    } else if (!isTable(marker.code)) throw new ImageRefused(BROKEN);
    at = marker.code === START_OF_SCAN ? scanEnd(bytes, end) : end;
  }
  throw new ImageRefused(BROKEN);
}

/** §B.1.1.2: any number of 0xff may precede a marker. */
function markerAt(bytes: Buffer, from: number): { code: number; end: number } {
  if (bytes[from] !== 0xff) throw new ImageRefused(BROKEN);
  let at = from;
  while (bytes[at] === 0xff) at += 1;
  const code = bytes[at];
  if (code === undefined || code === STUFFED || code === START_OF_IMAGE || isRestart(code))
    throw new ImageRefused(BROKEN);
  return { code, end: at + 1 };
}

function segmentEnd(bytes: Buffer, at: number): number {
  if (at + 2 > bytes.length) throw new ImageRefused(BROKEN);
  const length = bytes.readUInt16BE(at);
  if (length < 2 || at + length > bytes.length) throw new ImageRefused(BROKEN);
  return at + length;
}

/** §B.2.2. A height of zero would be defined after the first scan; encoders of screenshots do not do that. */
function frameOf(data: Buffer): Dimensions {
  if (data.length < 6 || data.length !== 6 + 3 * data[5]!) throw new ImageRefused(BROKEN);
  return { height: data.readUInt16BE(1), width: data.readUInt16BE(3) };
}

/** Finds the next marker after entropy-coded data, in which 0xff is followed by zero or is a restart marker. */
function scanEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1];
    if (next === 0xff) continue;
    if (next === STUFFED || (next !== undefined && isRestart(next))) at += 1;
    else return at;
  }
  throw new ImageRefused(BROKEN);
}
