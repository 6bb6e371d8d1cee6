import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import fastify, { type FastifyBaseLogger } from 'fastify';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { mapErrors } from '../../../src/app/http/errors.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';

const [INFO, WARN, ERROR] = [30, 40, 50];

describe('the log of failed requests', () => {
  let lines: { level: number; msg: string; err: { type: string; stack?: string } }[];
  let app: Awaited<ReturnType<typeof served>>;
  beforeEach(async () => {
    lines = [];
    app = await served((line) => void lines.push(JSON.parse(line) as (typeof lines)[number]));
  });
  afterEach(() => app.close());

  const failures = () => lines.filter(({ msg }) => msg === 'request failed').map(({ level }) => level);

  it.each([
    ['GET', undefined],
    ['POST', '{"a":1}'],
    ['PUT', '{"a":1}'],
  ])('has a defect at level error: %s, with a body that has been read', async (method, body) => {
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(`${app.url}/defect`, { method, ...(body ? { body, headers } : {}) });
    expect(status).toBe(500);
    expect(failures()).toEqual([ERROR]);
    expect(lines.find(({ msg }) => msg === 'request failed')!.err).toMatchObject({
      type: 'Error',
      stack: expect.stringContaining('failure-log.test'),
    });
  });

  it('has no defect, and no stack, for a database that is away: an outage is one cause and not a hundred', async () => {
    const { status } = await fetch(`${app.url}/without-database`);
    expect(status).toBe(503);
    expect(failures()).toEqual([WARN]);
    expect(lines.find(({ msg }) => msg === 'request failed')!.err).toEqual({
      type: 'error',
      message: 'remaining connection slots are reserved',
    });
  });

  it.each(['GET', 'POST'])('has no error for a client that went away: %s', async (method) => {
    const socket = connect(app.port, '127.0.0.1');
    await once(socket, 'connect');
    const body = method === 'POST' ? '{}' : '';
    socket.write(
      `${method} /after-the-client HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await app.begun;
    socket.resetAndDestroy();
    await vi.waitFor(() => expect(failures()).toEqual([INFO]), 5_000);
  });
});

/** Routes that fail: at once, or once their client has gone. */
async function served(write: (line: string) => void) {
  const app = fastify({ loggerInstance: newLogger('info', { write }) as FastifyBaseLogger });
  mapErrors(app);
  app.all('/defect', async () => {
    throw new Error('a defect');
  });
  app.get('/without-database', async () => {
    throw Object.assign(new pg.DatabaseError('remaining connection slots are reserved', 0, 'error'), { code: '53300' });
  });
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  app.all('/after-the-client', async ({ raw }) => {
    const gone = once(raw.socket, 'close');
    begin();
    await gone;
    throw new Error('the connection is gone');
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, begun, close: () => app.close() };
}
