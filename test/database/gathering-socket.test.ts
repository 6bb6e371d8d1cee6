import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { gatheringSocket } from '../../src/database/gathering-socket.ts';

it('a gathering socket sends together what is written in one turn, in order', async () => {
  const received: Buffer[] = [];
  const server = createServer((peer) => peer.on('data', (chunk) => received.push(chunk)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = gatheringSocket();
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');

  for (const turn of ['first', 'second']) {
    const sent = new Promise((resolve) => {
      socket.write(`${turn} a `);
      socket.write(Buffer.from('b '));
      socket.write('c;', resolve);
    });
    expect(socket.writableCorked).toBe(1);
    await setImmediate();
    expect(socket.writableCorked).toBe(0);
    await sent;
  }
  socket.end('end');
  await once(socket, 'close');
  expect(Buffer.concat(received).toString()).toBe('first a b c;second a b c;end');
  server.close();
});
