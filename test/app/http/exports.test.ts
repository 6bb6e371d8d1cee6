import fastify from 'fastify';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endSlowReaders } from '../../../src/app/http/plugins/slow-readers.ts';
import { sendExport } from '../../../src/app/http/send-export.ts';
import { FairLimiter } from '../../../src/platform/fairness/fair-limiter.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';

const EXPORT = '/api/v1/admin/audit-log/export';

describe('concurrent exports', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  it('are limited to two per tenant and eight in all; above the limit the client is told when to retry', async () => {
    const { exports } = app.services.limits;
    for (const key of [acme.tenantId, acme.tenantId]) void exports.enter(key);
    const refused = await acme.admin.get(EXPORT);
    expect([refused.status, refused.headers.get('retry-after'), refused.body]).toEqual([
      429,
      '10',
      expect.objectContaining({ error: 'too many requests at once' }),
    ]);
    const other = await app.newTenant();
    expect((await other.admin.get(EXPORT)).status).toBe(200);
    for (const key of ['1', '2', '3', '4', '5', '6']) void exports.enter(key);
    const full = await other.admin.get(EXPORT);
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '10']);
    for (const key of [acme.tenantId, acme.tenantId, '1', '2', '3', '4', '5', '6']) exports.leave(key);
  });

  it('end when the client has received them', async () => {
    for (let n = 0; n < 5; n += 1) expect((await acme.admin.get(EXPORT)).status).toBe(200);
    await expect.poll(() => app.services.limits.exports.running).toBe(0);
  });
});

describe('a client that leaves before its export begins', () => {
  it('uses up nothing of the share of its tenant', async () => {
    const exports = new FairLimiter({ what: 'exports', atOnce: 8, perKey: 2, waiting: 0, waitingPerKey: 0, waitMs: 0 });
    const tenantId = asTenantId(randomUUID());
    const bodies: Readable[] = [];
    const app = fastify();
    app.get('/', async (_request, reply) => {
      app.server.emit('asked');
      await once(reply.raw, 'close');
      return sendExport(reply, exports, tenantId, { name: 'log.csv', type: 'text/csv' }, () => {
        bodies.push(Readable.from(['a', 'b']));
        return bodies.at(-1)!;
      });
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    for (let n = 1; n <= 5; n += 1) {
      const asked = once(app.server, 'asked');
      const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      await asked;
      socket.destroy();
      await expect.poll(() => bodies.length).toBe(n);
      await expect.poll(() => bodies.at(-1)!.destroyed).toBe(true);
      expect(exports.running).toBe(0);
    }
    await app.close();
  });
});

describe('a client that does not read a large response', () => {
  it('is disconnected, and its export ends', async () => {
    const app = fastify();
    endSlowReaders(app, 100);
    const source = new Readable({ read: () => void source.push(Buffer.alloc(64 * 1024)) });
    app.get('/', async (_request, reply) => reply.send(source));
    await app.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    socket.pause();
    await once(source, 'close');
    expect(source.destroyed).toBe(true);
    socket.destroy();
    await app.close();
  });
});
