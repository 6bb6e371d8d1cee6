import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import type { FastifyInstance } from 'fastify';
import { FailureError, temporarilyUnavailable } from '../../../platform/kernel/failure.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** From now on, before the listeners close, too: what is on its way to them is not lost. */
    refuseNewRequests(): void;
  }
}

/** What a client may still send of the body of a refused request. A connection that ends before that loses the refusal. */
const REST_OF_BODY_MS = 2_000;

/**
 * Requests that arrive while the service stops get the usual 503, on either listener: their clients try again, elsewhere or
 * later. Requests that began before go on. Every response is then the last one of its connection, so that no connection
 * that is kept alive delays the stop.
 */
export function refuseWhileClosing(app: FastifyInstance): void {
  let isClosing = false;
  app.decorate('refuseNewRequests', () => void (isClosing = true));
  app.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  app.addHook('onRequest', async ({ raw }) => {
    if (!isClosing) return;
    await readToItsEnd(raw);
    throw new FailureError(temporarilyUnavailable());
  });
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });
  app.addHook('onResponse', ({ raw: { socket } }, _reply, done) => {
    // Its headers may have been sent before.
    if (isClosing) socket.destroySoon();
    done();
  });
}

async function readToItsEnd(message: IncomingMessage): Promise<void> {
  message.resume();
  await finished(message, { writable: false, signal: AbortSignal.timeout(REST_OF_BODY_MS) }).catch(() => undefined);
}
