import type { RequestListener, Server } from 'node:http';
import { limited } from '../../../platform/kernel/failure.ts';
import { refusalOf, refusalOfFailure } from '../refusal.ts';
import { lineOf } from './connection-line.ts';
import { refuseAndClose } from './malformed-requests.ts';

/**
 * Serves one request at a time per connection, in order (RFC 9112 §9.3.2). Node begins every request that arrives in one
 * packet at once, however many there are, whether or not their client reads a response: thousands of requests would run
 * before anybody else's. Beyond `MAX_WAITING` the connection is closed after a 429; what follows on it is not begun.
 */
export function serveInOrder(server: Server, handle: RequestListener): void {
  const inOrder =
    (listener: RequestListener): RequestListener =>
    (request, response) =>
      lineOf(request.socket, refusePipeline).add({ request, response, listener });
  server.on('request', inOrder(handle));
  server.on('checkExpectation', inOrder(refuseExpectation));
}

const refusePipeline: RequestListener = (request, response) =>
  refuseAndClose(request, response, refusalOfFailure(limited(1)));

/** RFC 9110 §10.1.1: the only defined expectation is `100-continue`. */
const refuseExpectation: RequestListener = (request, response) =>
  refuseAndClose(request, response, refusalOf('expectation_failed'));
