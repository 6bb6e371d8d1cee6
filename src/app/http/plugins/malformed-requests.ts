import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FailureError, invalid } from '../../../platform/kernel/failure.ts';
import { errorFormOf, sendFailure } from '../errors.ts';
import { refusalOf, refusalOfFailure, type Refusal } from '../refusal.ts';
import { afterResponses } from './connection-line.ts';
import type { NoteRefusal } from './early-refusals.ts';
import { requestIdOf } from './request-ids.ts';
import { securityHeaders } from './security-headers.ts';

/**
 * Requests without `Host`, or with several (RFC 9112 §3.2), get the usual error body. Node would refuse the former without a
 * body, so `requireHostHeader` is off, and takes the first of the latter.
 */
export function refuseWithoutHost(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const wrong = wrongHost(request.raw);
    done(wrong === undefined ? undefined : new FailureError(invalid('Host', wrong)));
  });
}

function wrongHost({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  if (headers.host === undefined) return httpVersion === '1.1' ? 'is required' : undefined;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === 'host') hosts += 1;
  return hosts > 1 ? 'is given twice' : undefined;
}

/** For a URL that the router cannot parse. No hook runs for such a request, so their headers are set here. */
export const addressRefuser =
  (note: NoteRefusal) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    for (const [name, value] of securityHeaders) void reply.header(name, value);
    void reply.header('x-request-id', request.id);
    sendFailure(error, request, reply);
    const { id: requestId, method, url, ip } = request;
    note({ requestId, method, url, status: reply.statusCode, ip });
  };

/** Answers a request that no route sees, as the last one of its connection. */
export function refuseAndClose(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  note: NoteRefusal,
): void {
  const { requestId, status, headers, body } = responseOf(refusal, request);
  response.writeHead(status, headers).end(body);
  note({ requestId, method: request.method, url: request.url, status, ip: request.socket.remoteAddress });
}

/**
 * For malformed HTTP, too large headers and request time-outs. Closes the connection, whose state is unknown. Complete
 * requests before the malformed bytes get their responses first: some are carried out already.
 */
export const malformedRefuser =
  (note: NoteRefusal) =>
  (error: ParserError, socket: SocketOfRequest): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    // The bytes of the error began with requests that were answered: they say nothing of the one that is refused.
    if (!afterResponses(socket, () => refuseAtOnce({ code: error.code }, socket, note)))
      refuseAtOnce(error, socket, note);
  };

function refuseAtOnce(
  error: Pick<ParserError, 'code' | 'rawPacket'>,
  socket: SocketOfRequest,
  note: NoteRefusal,
): void {
  // While a response is being sent, a second one would become part of its body.
  if (socket.writable && socket._httpMessage?.headersSent !== true) {
    const refused = socket._httpMessage?.req ?? { url: addressIn(error.rawPacket) };
    const { requestId, status, headers, body } = responseOf(REFUSALS[error.code ?? ''] ?? MALFORMED, refused);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
    const method = 'method' in refused ? refused.method : undefined;
    note({ requestId, method, url: refused.url || undefined, status, ip: socket.remoteAddress });
  }
  endSoon(socket);
}

/** The client gets what was sent to it before the connection is gone, unless it does not read. */
function endSoon(socket: Socket): void {
  socket.destroySoon();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** No proxy for others: `CONNECT` is malformed here. Node would close the connection without a word. */
export const connectRefuser =
  (note: NoteRefusal) =>
  (_request: IncomingMessage, socket: Duplex): void => {
    // Node no longer listens to a socket that it has given away, and an error without a listener ends the process.
    socket.on('error', () => socket.destroy());
    malformedRefuser(note)({ name: 'Error', message: 'CONNECT' }, socket as Socket);
  };

/** Node keeps the current response here. Node's own error handler reads it, too. */
type SocketOfRequest = Socket & { readonly _httpMessage?: ServerResponse | null };

/** `rawPacket`: the bytes that the parser was given last, as a `Buffer`. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: unknown };

const LINGER_MS = 2_000;

/** Longer than any path by which a protocol is recognized. */
const ENOUGH_OF_AN_ADDRESS = 256;

/**
 * The address of a request whose headers Node refused, if they began in these bytes. It decides about nothing but the
 * form of the refusal, as anybody can write it. Over TLS, headers that are too large began in an earlier record.
 */
function addressIn(bytes: unknown): string {
  const begin = Buffer.isBuffer(bytes) ? bytes.subarray(0, ENOUGH_OF_AN_ADDRESS).toString('latin1') : '';
  return /^[A-Z]{3,10} (\/\S*)/.exec(begin)?.[1] ?? '';
}

const MALFORMED = refusalOfFailure(invalid('request', 'is malformed', 'malformed_request'));
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: refusalOf('headers_too_large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: refusalOf('payload_too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: refusalOf('request_timeout'),
};

/** Where no request was parsed, its id is made here. */
function responseOf(
  refusal: Refusal,
  request: Partial<Pick<IncomingMessage, 'url' | 'headers'>>,
): { requestId: string; status: number; headers: Record<string, string>; body: string } {
  const requestId = requestIdOf({ headers: request.headers ?? {} });
  const { media, bodyOf } = errorFormOf(request);
  const body = JSON.stringify(bodyOf(refusal, requestId));
  const headers = {
    ...Object.fromEntries(securityHeaders.map(([name, value]) => [name, String(value)])),
    'x-request-id': requestId,
    'content-type': media,
    'content-length': String(Buffer.byteLength(body)),
    ...(refusal.retryAfter === undefined ? {} : { 'retry-after': String(refusal.retryAfter) }),
    'cache-control': 'no-store',
    connection: 'close',
  };
  return { requestId, status: refusal.status, headers, body };
}
