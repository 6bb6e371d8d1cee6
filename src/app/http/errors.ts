import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidEventText, EventTooLarge } from '../../platform/eventstore/codec.ts';
import { EventStoreUnavailable } from '../../platform/eventstore/port.ts';
import { WrongMasterKey } from '../../platform/vault/keyrings.ts';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { TooBusy } from '../../platform/fairness/fair-limiter.ts';
import { TooManyWaiting } from '../../contexts/identity/hashing-limiter.ts';
import { isStorageFull } from '../../platform/objects/storage-full.ts';
import { sendRefusalPage, wantsPage } from './refusal-page.ts';
import { PartialCompletion } from './partial-completion.ts';
import {
  RETRY_AFTER_SECONDS,
  FailureError,
  invalid,
  notFound,
  tooLarge,
  unavailable,
  type Failure,
  type FailureKind,
} from '../../platform/kernel/failure.ts';

/** The only mapping from failures to HTTP status codes (interface, "Errors"; choice OP-016). */
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

/** True if a dependency is unreachable, silent, full or at its limit: the same request may succeed later. */
export const isUnavailable = (error: unknown): boolean =>
  (error instanceof FailureError && error.failure.kind === 'unavailable') ||
  error instanceof TooBusy ||
  error instanceof EventStoreUnavailable ||
  error instanceof WrongMasterKey ||
  error instanceof TooManyWaiting ||
  isDatabaseUnavailable(error) ||
  isStorageFull(error);

interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly retryAfter?: number;
}

const TOO_LARGE: Refusal = { status: 413, message: tooLarge().message };
const OTHER_MEDIA: Refusal = { status: 415, message: 'unsupported media type' };
const NOT_JSON: Refusal = { status: 400, message: invalid('body', 'is not valid JSON').message };

/** Responses for errors of Fastify and its plugins, by error code. */
const BY_CODE: Readonly<Record<string, Refusal>> = {
  FST_ERR_BAD_URL: { status: 400, message: invalid('path', 'has a malformed percent escape').message },
  FST_ERR_CTP_BODY_TOO_LARGE: TOO_LARGE,
  FST_REQ_FILE_TOO_LARGE: TOO_LARGE,
  FST_FILES_LIMIT: TOO_LARGE,
  FST_PARTS_LIMIT: TOO_LARGE,
  FST_FIELDS_LIMIT: TOO_LARGE,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: OTHER_MEDIA,
  FST_INVALID_MULTIPART_CONTENT_TYPE: OTHER_MEDIA,
  FST_ERR_CTP_EMPTY_JSON_BODY: { status: 400, message: invalid('body', 'must not be empty').message },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: NOT_JSON,
  FST_ERR_CTP_INVALID_JSON_BODY: NOT_JSON,
};

/** Responses for Fastify's other errors, by status. */
const BY_STATUS: Readonly<Record<number, Refusal>> = {
  400: { status: 400, message: invalid('request', 'is malformed').message },
  404: { status: 404, message: notFound().message },
  413: TOO_LARGE,
  414: { status: 414, message: 'address too long' },
  415: OTHER_MEDIA,
};

/** Any other error is a defect of this service. The response discloses no details. */
const OUR_FAULT: Refusal = { status: 500, message: 'internal error' };

const refusalOf = (error: FastifyError): Refusal =>
  ownRefusal(error) ?? BY_CODE[error.code] ?? BY_STATUS[error.statusCode ?? 500] ?? OUR_FAULT;

/** The response for an error thrown by our own code, if it is not a defect. */
function ownRefusal(error: Error): Refusal | undefined {
  if (error instanceof FailureError) return refusalOfFailure(error.failure);
  if (error instanceof TooBusy) return refusalOfTooBusy(error);
  if (isUnavailable(error)) return { status: 503, message: unavailable().message, retryAfter: RETRY_AFTER_SECONDS };
  if (error instanceof InvalidEventText)
    return { status: 400, message: invalid('request', 'contains characters that are not text').message };
  return error instanceof EventTooLarge ? TOO_LARGE : undefined;
}

const refusalOfFailure = (failure: Failure): Refusal => ({
  status: statusOf(failure),
  message: failure.message,
  ...(failure.retryAfterSeconds === undefined ? {} : { retryAfter: failure.retryAfterSeconds }),
});

const refusalOfTooBusy = ({ isOwnShare, retryAfterSeconds }: TooBusy): Refusal => ({
  status: isOwnShare ? 429 : 503,
  message: isOwnShare ? 'too many requests at once' : unavailable().message,
  retryAfter: retryAfterSeconds,
});

/** Headers that a handler may have set for a body that is not sent after all. */
const ABOUT_THE_BODY = ['content-disposition', 'content-encoding', 'content-length', 'etag', 'last-modified'];

const facesBrowser = (request: FastifyRequest): boolean =>
  request.routeOptions.config?.declared?.facesBrowsers === true && wantsPage(request);

/** Sends an error response in the common format, and logs status 500 and above. */
export function sendFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, message, retryAfter } = refusalOf(error);
  // Requests of a client that disconnected fail half-way. That is not our error, so do not log it as one.
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
    // A stream that failed before its first byte has set headers here.
    reply.raw.removeHeader(name);
  }
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  if (facesBrowser(request)) return sendRefusalPage(reply, { status, retryAfter });
  const shape = request.routeOptions.config?.declared?.refusal;
  const report = error instanceof PartialCompletion ? error.report : {};
  // Set the type explicitly: with the type of a failed stream, Fastify would not serialize the body.
  return reply
    .status(status)
    .type('application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(shape ? shape({ status, message }) : { error: message, ...report });
}

export function mapErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => sendFailure(error, request, reply));
  app.setNotFoundHandler((_request, reply) => reply.status(404).send({ error: notFound().message }));
}
