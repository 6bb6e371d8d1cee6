import type { FastifyInstance } from 'fastify';

/** A smaller body fits into the socket buffers, so nothing waits for the client. */
const FITS_BYTES = 64 * 1024;

const isLarge = (payload: unknown): boolean =>
  typeof payload === 'string' || Buffer.isBuffer(payload)
    ? payload.length > FITS_BYTES
    : typeof payload === 'object' && payload !== null;

/**
 * Closes the connection of a client that reads nothing of a large response for `idleMs`, because the response stays in memory
 * until then. The socket's timer restarts with every octet sent.
 */
export function endSlowReaders(app: FastifyInstance, idleMs: number): void {
  app.addHook('onSend', async (_request, reply, payload) => {
    if (isLarge(payload)) reply.raw.setTimeout(idleMs);
  });
}
