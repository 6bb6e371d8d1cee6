import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EventIsNoText, EventTooLarge } from '../eventstore/codec.ts';
import { EventStoreUnavailable } from '../eventstore/port.ts';
import { WrongMasterKey } from '../vault/keyrings.ts';
import { isDatabaseUnavailable } from '../database/unavailable.ts';
import { TooBusy } from '../fairness/fair-limiter.ts';
import { TooManyWaiting } from '../identity/hashing-turns.ts';
import { isStorageFull } from '../objects/storage-full.ts';
import { PartlyDone } from './partly-done.ts';
import {
  AWAY_SECONDS,
  FailureError,
  invalid,
  notFound,
  tooLarge,
  unavailable,
  type Failure,
  type FailureKind,
} from '../kernel/failure.ts';

/** The one mapping from failures to HTTP (interface, "Errors"; choice OP-016). */
const STATUS: Readonly<Record<FailureKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  tooLarge: 413,
  limited: 429,
  unavailable: 503,
};

export const statusOf = (failure: Failure): number => STATUS[failure.kind];

/** Something that the service needs is away, silent, full or at its limit: the same request may succeed later. */
export const isUnavailable = (error: unknown): boolean =>
  (error instanceof FailureError && error.failure.kind === 'unavailable') ||
  error instanceof TooBusy ||
  error instanceof EventStoreUnavailable ||
  error instanceof WrongMasterKey ||
  error instanceof TooManyWaiting ||
  isDatabaseUnavailable(error) ||
  isStorageFull(error);

/** What the framework itself refuses, in the interface's words. Anything else is our own fault: 500, and no detail. */
function failureOf(error: FastifyError): { status: number; message: string; retryAfter?: number } {
  if (error instanceof FailureError) {
    const { failure } = error;
    return {
      status: statusOf(failure),
      message: failure.message,
      ...(failure.retryAfterSeconds === undefined ? {} : { retryAfter: failure.retryAfterSeconds }),
    };
  }
  if (error instanceof TooBusy)
    return {
      status: error.isOwnShare ? 429 : 503,
      message: error.isOwnShare ? 'too many requests at once' : unavailable().message,
      retryAfter: error.retryAfterSeconds,
    };
  if (isUnavailable(error)) return { status: 503, message: unavailable().message, retryAfter: AWAY_SECONDS };
  if (error instanceof EventIsNoText)
    return { status: 400, message: invalid('request', 'contains characters that are not text').message };
  if (error instanceof EventTooLarge) return { status: 413, message: tooLarge().message };
  switch (error.code) {
    case 'FST_ERR_BAD_URL':
      return { status: 400, message: invalid('path', 'has a malformed percent escape').message };
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
    case 'FST_REQ_FILE_TOO_LARGE':
    case 'FST_FILES_LIMIT':
    case 'FST_PARTS_LIMIT':
    case 'FST_FIELDS_LIMIT':
      return { status: 413, message: tooLarge().message };
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_INVALID_MULTIPART_CONTENT_TYPE':
      return { status: 415, message: 'unsupported media type' };
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return { status: 400, message: invalid('body', 'must not be empty').message };
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return { status: 400, message: invalid('body', 'is not valid JSON').message };
    default:
  }
  const status = error.statusCode ?? 500;
  if (status === 400) return { status, message: invalid('request', 'is malformed').message };
  if (status === 404) return { status, message: notFound().message };
  if (status === 413) return { status, message: tooLarge().message };
  if (status === 414) return { status, message: 'address too long' };
  if (status === 415) return { status, message: 'unsupported media type' };
  return { status: 500, message: 'internal error' };
}

/** What a handler may have said about a body that is not sent after all. */
const ABOUT_THE_BODY = ['content-disposition', 'content-encoding', 'content-length', 'etag', 'last-modified'];

/** Writes the one shape of every refusal, and logs what is our own fault. */
export function refuse(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, message, retryAfter } = failureOf(error);
  // A client that went away leaves requests half done: no fault of ours, and no alarm.
  const level = request.raw.destroyed || reply.raw.destroyed ? 'info' : 'error';
  if (status >= 500)
    request.log[level](
      {
        requestId: request.id,
        tenantId: request.principal?.tenantId ?? null,
        err: { type: error.name, message: error.message, stack: error.stack },
      },
      'request failed',
    );
  for (const name of ABOUT_THE_BODY) {
    reply.removeHeader(name);
    // A stream that failed before its first byte has left its headers here.
    reply.raw.removeHeader(name);
  }
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  const shape = request.routeOptions.config?.declared?.refusal;
  const report = error instanceof PartlyDone ? error.report : {};
  // Said in full: the type of a failed stream would keep the framework from serializing the body.
  return reply
    .status(status)
    .type('application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(shape ? shape({ status, message }) : { error: message, ...report });
}

export function mapErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => refuse(error, request, reply));
  app.setNotFoundHandler((_request, reply) => reply.status(404).send({ error: notFound().message }));
}
