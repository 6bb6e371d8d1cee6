import type { RequestListener, Server } from 'node:http';
import { limited } from '../../../platform/kernel/failure.ts';
import { refusalOf, refusalOfFailure, type Refusal } from '../refusal.ts';
import { lineOf } from './connection-line.ts';
import type { NoteRefusal } from './early-refusals.ts';
import { connectRefuser, refuseAndClose } from './malformed-requests.ts';

/**
 * Serves one request at a time per connection, in order (RFC 9112 §9.3.2). Node begins every request that arrives in one
 * packet at once, however many there are, whether or not their client reads a response: thousands of requests would run
 * before anybody else's. Beyond `MAX_WAITING` the connection is closed after a 429; what follows on it is not begun.
 */
export function serveInOrder(server: Server, handle: RequestListener, note: NoteRefusal): void {
  const refuseWith =
    (refusal: Refusal): RequestListener =>
    (request, response) =>
      refuseAndClose(request, response, refusal, note);
  const refusePipeline = refuseWith(refusalOfFailure(limited(1)));
  const inOrder =
    (listener: RequestListener): RequestListener =>
    (request, response) =>
      lineOf(request.socket, refusePipeline).add({ request, response, listener });
  server.on('request', inOrder(handle));
  server.on('connect', connectRefuser(note));
  // RFC 9110 §10.1.1: the only defined expectation is `100-continue`.
  server.on('checkExpectation', inOrder(refuseWith(refusalOf('expectation_failed'))));
}
