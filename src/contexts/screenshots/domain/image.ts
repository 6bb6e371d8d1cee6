import { ImageRefused, type Dimensions } from './image-parts.ts';
import { walkJpeg } from './jpeg.ts';
import { walkPng } from './png.ts';
import { walkWebp } from './webp.ts';

/** Choice OP-160. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
export type ImageType = (typeof imageTypes)[number];

export interface Image extends Dimensions {
  readonly type: ImageType;
}

export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const LONGEST_SIDE = 16_384;
/** At four bytes per pixel, a viewer needs 200 MB of memory. */
const MAX_PIXELS = 50_000_000;

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);
const startsWith = (bytes: Buffer, start: Buffer) =>
  bytes.length > start.length && bytes.subarray(0, start.length).equals(start);
const isWebp = (bytes: Buffer) =>
  bytes.length > 12 && bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';

/**
 * Detects the image type from the first bytes, whatever the declared type, and parses the file to its last byte.
 * Nothing may precede, follow or hide in the image that another parser would read differently. Throws `ImageRefused`.
 */
export function readImage(bytes: Buffer): Image {
  const image = walk(bytes);
  const { width, height } = image;
  if (width === 0 || height === 0) throw new ImageRefused('has no size');
  if (width > LONGEST_SIDE || height > LONGEST_SIDE || width * height > MAX_PIXELS)
    throw new ImageRefused('has too many pixels');
  return image;
}

function walk(bytes: Buffer): Image {
  if (startsWith(bytes, PNG)) return { type: 'image/png', ...walkPng(bytes, PNG.length) };
  if (startsWith(bytes, JPEG)) return { type: 'image/jpeg', ...walkJpeg(bytes) };
  if (isWebp(bytes)) return { type: 'image/webp', ...walkWebp(bytes) };
  throw new ImageRefused('must be a PNG, JPEG or WebP image');
}
