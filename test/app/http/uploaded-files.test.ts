import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:net';
import multipart from '@fastify/multipart';
import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mapErrors } from '../../../src/app/http/errors.ts';
import { filePart } from '../../../src/app/http/file-part.ts';
import { multipartForm } from '../../../src/app/http/multipart-form.ts';
import { streamedForm } from '../../../src/app/http/streamed-form.ts';

const LIMIT = 4_096;
const readers = {
  filePart: async (request: Parameters<typeof filePart>[0]) => (await filePart(request, 'file', LIMIT)).length,
  multipartForm: async (request: Parameters<typeof filePart>[0]) =>
    (await multipartForm(request, z.object({}), { part: 'file', mostBytes: LIMIT })).file.bytes.length,
  streamedForm: async (request: Parameters<typeof filePart>[0]) => {
    const take = async (stream: AsyncIterable<Buffer>) => {
      let bytes = 0;
      for await (const chunk of stream) bytes += chunk.length;
      return bytes;
    };
    return (await streamedForm(request, z.object({}), { part: 'file', mostBytes: LIMIT, take })).taken;
  },
};

describe.each(Object.keys(readers) as (keyof typeof readers)[])('a file that %s reads', (name) => {
  let app: FastifyInstance;
  let port: number;
  beforeAll(async () => {
    app = fastify();
    mapErrors(app);
    await app.register(multipart, { throwFileSizeLimit: true, limits: { files: 1 } });
    app.route({
      method: 'POST',
      url: '/',
      handler: async (request) => ({ bytes: await readers[name](request) }),
    });
    port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
  });
  afterAll(() => app.close());

  /** Sends the file in these chunks, with a pause after each. Returns the status and the number of bytes read. */
  async function upload(...chunks: readonly number[]): Promise<[status: number, bytes: number | undefined]> {
    const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n';
    const end = '\r\n--x--\r\n';
    const length = head.length + end.length + chunks.reduce((sum, size) => sum + size, 0);
    const socket = connect(port, '127.0.0.1');
    let response = '';
    socket.on('data', (data: Buffer) => void (response += data.toString()));
    socket.on('error', () => undefined);
    const send = async (text: string) => {
      socket.write(text);
      await pause(30);
    };
    await send(
      `POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: ${length}\r\n\r\n${head}`,
    );
    for (const size of chunks) await send('a'.repeat(size));
    socket.write(end);
    await new Promise((resolve) => socket.once('close', resolve));
    const bytes = /"bytes":(\d+)/.exec(response)?.[1];
    return [Number(response.split(' ')[1]), bytes === undefined ? undefined : Number(bytes)];
  }

  it.each([
    ['as large as allowed', [LIMIT], 200, LIMIT],
    ['larger, in one chunk', [LIMIT + 1], 413, undefined],
    ['larger, with a chunk that ends at the limit', [LIMIT, 1], 413, undefined],
    ['much larger, in chunks of which one ends at the limit', [LIMIT / 2, LIMIT / 2, LIMIT, LIMIT], 413, undefined],
  ])('is whole or refused: %s', async (_title, chunks, status, bytes) => {
    expect(await upload(...chunks)).toEqual([status, bytes]);
  });

  it.each([
    ['a second one of the same name', ['file', 'file'], 'must be the only file, and come once'],
    ['a second one of another name', ['file', 'other'], 'must be the only file, and come once'],
    ['one of another name', ['other'], 'is required'],
    ['a third one', ['file', 'other', 'file'], 'must be the only file, and come once'],
  ])('is the only one: %s is refused', async (_title, names, message) => {
    const form = new FormData();
    for (const part of names) form.append(part, new Blob(['a']), 'f');
    if (names.length < 3) for (const text of ['x', 'y']) form.append('text', text);
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: form });
    const { fields } = (await response.json()) as { fields: unknown };
    const twice = names.length < 3 ? [{ field: 'text', message: 'must be given once' }] : [];
    expect([response.status, fields]).toEqual([400, [{ field: 'file', message }, ...twice]]);
  });

  it('is refused with a second one that is too large, and the next is read', async () => {
    for (const [sizes, status] of [
      [[1, LIMIT + 1], 413],
      [[LIMIT + 1, 1], 413],
      [[1], 200],
    ] as const) {
      const form = new FormData();
      for (const size of sizes) form.append('file', new Blob(['a'.repeat(size)]), 'f');
      expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: form })).status).toBe(status);
    }
  });
});
