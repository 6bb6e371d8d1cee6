import type { FastifyInstance } from 'fastify';

/** A smaller body fits into the buffers of the sockets: nothing waits for its reader. */
const FITS_BYTES = 64 * 1024;

const isLarge = (payload: unknown): boolean =>
  typeof payload === 'string' || Buffer.isBuffer(payload)
    ? payload.length > FITS_BYTES
    : typeof payload === 'object' && payload !== null;

/**
 * Ends the connection of a client that takes nothing of a large response for so long: what is being sent stays in memory until
 * then. The timer of the socket counts from the last octet that left.
 */
export function endSlowReaders(app: FastifyInstance, idleMs: number): void {
  app.addHook('onSend', async (_request, reply, payload) => {
    if (isLarge(payload)) reply.raw.setTimeout(idleMs);
  });
}
