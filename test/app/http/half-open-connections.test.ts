import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { startApp } from '../../dsl/app.ts';

it('shuts down cleanly with sealed heads during an unfinished TLS handshake', async () => {
  const lines: string[] = [];
  const app = await startApp(
    { drainMs: 1_000 },
    pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
  );
  await app.newTenant();
  await app.settled();
  const socket = connect(Number(new URL(app.tlsUrl).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(Buffer.from([0x16, 0x03, 0x01]));
  const ended = once(socket, 'close');
  await app.close();
  await ended;
  expect(
    lines
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
      .filter((msg) => /did not stop cleanly|could not be sealed/.test(msg)),
  ).toEqual([]);
});
