import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ImageRefused } from '../../../src/contexts/screenshots/domain/image-parts.ts';
import { readImage } from '../../../src/contexts/screenshots/domain/image.ts';
import { browserPicture, png, pngChunk, PNG_SIGNATURE } from '../../dsl/pictures.ts';

const real = ['browser.png', 'browser.jpg', 'browser.webp', 'lossless.webp'] as const;
const refusalOf = (bytes: Buffer): string => {
  try {
    return `taken as ${readImage(bytes).type}`;
  } catch (error) {
    if (error instanceof ImageRefused) return error.message;
    throw error;
  }
};

describe('an uploaded picture', () => {
  it.each([
    ['browser.png', 'image/png'],
    ['browser.jpg', 'image/jpeg'],
    ['browser.webp', 'image/webp'],
    ['lossless.webp', 'image/webp'],
  ] as const)('is accepted as %s of a browser, with its size', (name, type) => {
    expect(readImage(browserPicture(name))).toEqual({ type, width: 16, height: 8 });
  });

  it.each(real)('as %s is rejected once any bytes follow its end', (name) => {
    for (const tail of ['\0', '<script>alert(1)</script>', 'PK\x03\x04', '\xff\xd9']) {
      expect(refusalOf(Buffer.concat([browserPicture(name), Buffer.from(tail, 'latin1')]))).toBe(
        'has data after its end',
      );
    }
  });

  it.each(real)('as %s is rejected, wherever it is truncated', (name) => {
    const whole = browserPicture(name);
    for (let length = 0; length < whole.length; length += 1)
      expect([length, refusalOf(whole.subarray(0, length))]).not.toEqual([length, expect.stringMatching(/^taken/)]);
  });

  it.each(real)('as %s with changed bytes is a picture or rejected, and never anything else', (name) => {
    const whole = browserPicture(name);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        (changes) => {
          const changed = Buffer.from(whole);
          for (const [at, value] of changes) changed[at] = value;
          expect(typeof refusalOf(changed)).toBe('string');
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['nothing', ''],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['GIF', 'GIF89a\x01\x00\x01\x00\x00\x00\x00;'],
    ['PDF', '%PDF-1.7\n%%EOF'],
    ['a PNG with a line before it', `\n${PNG_SIGNATURE.toString('latin1')}`],
  ])('is rejected as %s', (_name, text) => {
    expect(refusalOf(Buffer.from(text, 'latin1'))).toBe('must be a PNG, JPEG or WebP image');
  });

  it.each([
    [20_000, 1],
    [1, 20_000],
    [16_000, 16_000],
    [0xffffffff, 0xffffffff],
  ])('is rejected if it expands to %i × %i pixels', (width, height) => {
    expect(refusalOf(png({ width, height }))).toBe('has too many pixels');
  });

  it('is rejected if it is empty', () => {
    expect(refusalOf(png({ width: 0 }))).toBe('has no size');
  });

  it('is no PNG with a wrong checksum, an unknown critical chunk, two headers, or data in two places', () => {
    const damaged = png();
    damaged[20] = damaged[20]! ^ 1;
    const data = pngChunk('IDAT', Buffer.from('x'));
    const header = png().subarray(8, 33);
    for (const bytes of [
      damaged,
      png({ extra: [pngChunk('EVIL', Buffer.alloc(3))] }),
      png({ extra: [header] }),
      png({ extra: [data, pngChunk('tEXt', Buffer.from('a\0b'))] }),
    ]) {
      expect(refusalOf(bytes)).toBe('is not a valid PNG image');
    }
    expect(readImage(png({ extra: [pngChunk('tEXt', Buffer.from('a\0b'))] }))).toEqual({
      type: 'image/png',
      width: 4,
      height: 3,
    });
  });

  it('is no WebP that is animated, or whose canvas differs from its picture', () => {
    const moving = browserPicture('browser.webp');
    moving[20] = moving[20]! | 0x02;
    expect(refusalOf(moving)).toBe('must not be animated');
    const vast = browserPicture('browser.webp');
    vast.writeUIntLE(0xffffff, 24, 3);
    expect(refusalOf(vast)).toBe('is not a valid WebP image');
  });

  it('is no JPEG with two frames, and none without a scan', () => {
    const jpeg = browserPicture('browser.jpg');
    const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
    const length = 2 + jpeg.readUInt16BE(frame + 2);
    const doubled = Buffer.concat([jpeg.subarray(0, frame + length), jpeg.subarray(frame)]);
    const unscanned = Buffer.concat([jpeg.subarray(0, frame + length), Buffer.from([0xff, 0xd9])]);
    expect([refusalOf(doubled), refusalOf(unscanned)]).toEqual([
      'is not a valid JPEG image',
      'is not a valid JPEG image',
    ]);
  });
});
