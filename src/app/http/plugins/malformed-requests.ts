import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FailureError, invalid } from '../../../platform/kernel/failure.ts';
import { sendFailure } from '../errors.ts';
import { securityHeaders } from './security-headers.ts';

/**
 * Requests without `Host` get the usual error body, `{ error }`. Node would refuse them without a body, so
 * `requireHostHeader` is off and this hook refuses them.
 */
export function refuseWithoutHost(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { httpVersion, headers } = request.raw;
    done(
      httpVersion === '1.1' && headers.host === undefined
        ? new FailureError(invalid('Host', 'is required'))
        : undefined,
    );
  });
}

/** For a URL that the router cannot parse. No hook runs for such a request, so their headers are set here. */
export function refuseAddress(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  for (const [name, value] of securityHeaders) void reply.header(name, value);
  void reply.header('x-request-id', request.id);
  sendFailure(error, request, reply);
}

/** For servers other than Fastify's own, which takes `refuseMalformed` as an option. */
export function refuseWhatNodeRefuses(server: Server): void {
  server.on('clientError', refuseMalformed);
  refuseExpectations(server);
}

/** RFC 9110 §10.1.1: the only defined expectation is `100-continue`. */
export function refuseExpectations(server: Server): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(417, headersFor(EXPECTATION)).end(EXPECTATION);
  });
}

/** For malformed HTTP, too large headers and request time-outs. Closes the connection, whose state is unknown. */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: SocketOfRequest): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // While a response is being sent, a second one would become part of its body.
  if (socket.writable && socket._httpMessage?.headersSent !== true) {
    const { status, message } = REFUSALS[error.code ?? ''] ?? MALFORMED;
    const body = bodyOf(message);
    const headers = Object.entries(headersFor(body)).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('')}\r\n${body}`);
  }
  socket.destroy(error);
}

/** Node keeps the current response here. Node's own error handler reads it, too. */
type SocketOfRequest = Socket & { readonly _httpMessage?: ServerResponse | null };

const bodyOf = (message: string): string => JSON.stringify({ error: message });
const EXPECTATION = bodyOf('expectation failed');
const MALFORMED = { status: 400, message: invalid('request', 'is malformed').message };
const REFUSALS: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'request headers too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'payload too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'request timeout' },
};

const headersFor = (body: string): Record<string, string> => ({
  ...Object.fromEntries(securityHeaders.map(([name, value]) => [name, String(value)])),
  'content-type': 'application/json; charset=utf-8',
  'content-length': String(Buffer.byteLength(body)),
  'cache-control': 'no-store',
  connection: 'close',
});
