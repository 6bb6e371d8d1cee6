import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';

const FOLDER = new URL('../fixtures/screenshots/', import.meta.url);

/** 16 × 8 pixels, as a browser's canvas wrote them. */
export const browserPicture = (name: 'browser.png' | 'browser.jpg' | 'browser.webp' | 'lossless.webp'): Buffer =>
  readFileSync(new URL(name, FOLDER));

export const pngChunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
};

export const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A PNG of any size in its header, distinguished by its shade of grey; `extra` chunks come before its data. */
export function png({ width = 4, height = 3, shade = 0, extra = [] as readonly Buffer[] } = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const rows = Buffer.alloc(Math.min(height, 64) * (Math.min(width, 64) + 1), shade % 256).fill(shade >> 8, 0, 1);
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    ...extra,
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export interface Upload {
  readonly fields?: Readonly<Record<string, string>>;
  readonly file?: Buffer;
  readonly type?: string;
  readonly fileField?: string;
}

/** A multipart body (RFC 7578) with its content type. */
export function multipart({ fields = {}, file, type = 'image/png', fileField = 'file' }: Upload): {
  raw: Buffer;
  headers: Record<string, string>;
} {
  const boundary = '------------------------castellan0test';
  const parts: Buffer[] = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  if (file) {
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${fileField}"; filename="picture"\r\ncontent-type: ${type}\r\n\r\n`;
    parts.push(Buffer.from(head), file, Buffer.from('\r\n'));
  }
  return {
    raw: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}
