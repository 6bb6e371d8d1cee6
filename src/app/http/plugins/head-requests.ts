import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

/**
 * Fastify registers `HEAD` beside every `GET` (RFC 9110 §9.3.2), runs the same handler and drops the body. It would read a
 * streamed export to its end first, outside the limit of running exports, so the stream ends here.
 */
export function endHeadStreams(app: FastifyInstance): void {
  app.addHook('onSend', async ({ method }, _reply, payload) => {
    if (method !== 'HEAD') return payload;
    if (payload instanceof Readable) {
      payload.destroy();
      return Readable.from([]);
    }
    // Fastify does not expect null here.
    return payload ?? '';
  });
}
