import type { IncomingMessage } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidEventText, EventTooLarge } from '../../platform/eventstore/event-contract-error.ts';
import { EventStoreUnavailable } from '../../platform/eventstore/port.ts';
import { WrongMasterKey } from '../../platform/vault/keyrings.ts';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { TooBusy } from '../../platform/fairness/fair-limiter.ts';
import { TooManyWaiting } from '../../contexts/identity/hashing-limiter.ts';
import { isStorageFull } from '../../platform/objects/storage-full.ts';
import { sendRefusalPage, wantsPage, type RefusedStep } from './refusal-page.ts';
import { PartialCompletion } from './partial-completion.ts';
import { oauthRefusal } from './oauth-errors.ts';
import type { AnyRoute } from './route.ts';
import { LogNotTrusted } from '../../platform/eventstore/log-trust.ts';
import { SCIM_MEDIA, scimRefusal } from './scim-errors.ts';
import { FailureError, invalid } from '../../platform/kernel/failure.ts';
import { withExpectedMedia } from './expected-media.ts';
import { errorBody, refusalOf, refusalOfFailure, type Refusal } from './refusal.ts';

/** True if a dependency is unreachable, silent, full or at its limit: the same request may succeed later. */
export const isUnavailable = (error: unknown): boolean =>
  (error instanceof FailureError && error.failure.kind === 'unavailable') ||
  error instanceof TooBusy ||
  error instanceof EventStoreUnavailable ||
  error instanceof WrongMasterKey ||
  error instanceof TooManyWaiting ||
  isDatabaseUnavailable(error) ||
  isStorageFull(error);

const TOO_LARGE = refusalOf('payload_too_large');
const OTHER_MEDIA = refusalOf('unsupported_media_type');
const NOT_JSON = refusalOfFailure(invalid('body', 'is not valid JSON', 'malformed_json'));
const MALFORMED = refusalOfFailure(invalid('request', 'is malformed', 'malformed_request'));

/** Responses for errors of Fastify and its plugins, by error code. */
const BY_CODE: Readonly<Record<string, Refusal>> = {
  FST_ERR_BAD_URL: refusalOfFailure(invalid('path', 'has a malformed percent escape', 'malformed_request')),
  FST_ERR_CTP_BODY_TOO_LARGE: TOO_LARGE,
  FST_REQ_FILE_TOO_LARGE: TOO_LARGE,
  FST_FILES_LIMIT: TOO_LARGE,
  FST_PARTS_LIMIT: TOO_LARGE,
  FST_FIELDS_LIMIT: TOO_LARGE,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: OTHER_MEDIA,
  FST_INVALID_MULTIPART_CONTENT_TYPE: OTHER_MEDIA,
  FST_ERR_CTP_EMPTY_JSON_BODY: refusalOfFailure(invalid('body', 'must not be empty')),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: NOT_JSON,
  FST_ERR_CTP_INVALID_JSON_BODY: NOT_JSON,
};

/** Responses for Fastify's other errors, by status. */
const BY_STATUS: Readonly<Record<number, Refusal>> = {
  400: MALFORMED,
  404: refusalOf('not_found'),
  413: TOO_LARGE,
  414: refusalOf('address_too_long'),
  415: OTHER_MEDIA,
};

/** Any error without a response of its own is a defect of this service. The response discloses no details. */
const refusalOfError = (error: FastifyError): Refusal =>
  ownRefusal(error) ?? BY_CODE[error.code] ?? BY_STATUS[error.statusCode ?? 500] ?? refusalOf('internal_error');

/** The response for an error thrown by our own code, if it is not a defect. */
function ownRefusal(error: Error): Refusal | undefined {
  if (error instanceof FailureError) return refusalOfFailure(error.failure);
  if (error instanceof TooBusy)
    return refusalOf(error.isOwnShare ? 'share_used_up' : 'service_unavailable', {
      retryAfter: error.retryAfterSeconds,
    });
  if (isUnavailable(error)) return refusalOf('service_unavailable');
  if (error instanceof InvalidEventText)
    return refusalOfFailure(invalid('request', 'contains characters that are not text'));
  return error instanceof EventTooLarge ? TOO_LARGE : undefined;
}

/** RFC 6750 §3.1. */
const SCOPE_CHALLENGE = 'Bearer realm="castellan", error="insufficient_scope"';

/** Headers that a handler may have set for a body that is not sent after all. */
const ABOUT_THE_BODY = [
  'content-disposition',
  'content-encoding',
  'content-length',
  'etag',
  'last-modified',
  'location',
  'x-policy-key',
  'x-policy-signature',
];
/** A position of a log in doubt. */
const ABOUT_THE_LOG = ['x-log-position', 'x-stale'];

const noDoubt = () => undefined;

/** What the page for a browser is about; undefined for a program, and where no browser is sent. */
const pageFor = (request: FastifyRequest): RefusedStep | undefined => {
  const faces = wantsPage(request) && request.routeOptions.config?.declared?.facesBrowsers;
  return faces === true ? 'sign-in' : faces || undefined;
};

/** One line for each request. Only a defect has a stack: any other refusal says by its name what happened. */
function logFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const level = levelOf(error, reply);
  request.log[level](
    {
      requestId: request.id,
      tenantId: request.principal?.tenantId ?? null,
      err: { type: error.name, message: error.message, ...(level === 'error' ? { stack: error.stack } : {}) },
    },
    'request failed',
  );
}

/** What the service decides on (no certificate authority), and what a dependency that is away causes, is no defect. */
function levelOf(error: FastifyError, reply: FastifyReply): 'info' | 'warn' | 'error' {
  if (isGone(reply)) return 'info';
  return error instanceof FailureError || isUnavailable(error) ? 'warn' : 'error';
}

/**
 * True if the client disconnected: its requests fail half-way, which is not our error. Node destroys the incoming message
 * of every request whose body has been read: only connection and response tell.
 */
const isGone = ({ raw, request }: FastifyReply): boolean => raw.destroyed || request.raw.socket.destroyed;

/** Sends an error response in the common format, and logs status 500 and above. */
export function sendFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = withExpectedMedia(refusalOfError(error), request);
  const { status, retryAfter } = refusal;
  if (status >= 500) logFailure(error, request, reply);
  for (const name of ABOUT_THE_BODY) {
    reply.removeHeader(name);
    // A stream that failed before its first byte has set headers here.
    reply.raw.removeHeader(name);
  }
  if (error instanceof LogNotTrusted) for (const name of ABOUT_THE_LOG) reply.removeHeader(name);
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  // A handler may have said who may call, in a response that is not sent after all.
  if (status !== 401) reply.removeHeader('www-authenticate');
  else if (!reply.hasHeader('www-authenticate')) reply.header('www-authenticate', challengeOf(request));
  if (refusal.code === 'insufficient_scope') reply.header('www-authenticate', SCOPE_CHALLENGE);
  const step = pageFor(request);
  if (step) return sendRefusalPage(reply, { step, status, retryAfter });
  const shape = refusalShapeOf(request);
  const report = error instanceof PartialCompletion ? error.report : {};
  // Set the type explicitly: with the type of a failed stream, Fastify would not serialize the body.
  return reply
    .status(status)
    .type(shape === scimRefusal ? SCIM_MEDIA : JSON_MEDIA)
    .header('cache-control', 'no-store')
    .send(shape ? shape(refusal) : { ...errorBody(refusal, request.id), ...report });
}

/**
 * The challenge that RFC 9110 §15.5.2 requires with 401. RFC 6750 §3.1: no error code if the request had no token.
 */
function challengeOf({ headers, routeOptions }: FastifyRequest): string {
  const access = routeOptions.config?.declared?.access;
  if (access?.kind === 'device') return 'ClientCertificate realm="castellan"';
  const presented = access?.kind !== 'open' && /^bearer /i.test(headers.authorization ?? '');
  return `Bearer realm="castellan"${presented ? ', error="invalid_token"' : ''}`;
}

/** `mayRefuse` throws if the log that the refusal follows from came into doubt. */
export function mapErrors(
  app: FastifyInstance,
  mayRefuse: (request: FastifyRequest) => Promise<void> = async () => undefined,
): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const isUntold = refusalOfError(error).status < 500;
    const doubt = isUntold ? await mayRefuse(request).then(noDoubt, (found: FastifyError) => found) : undefined;
    return sendFailure(doubt ?? error, request, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    const refusal = refusalOf(isUnsupportedScim(request) ? 'scim_not_supported' : 'route_not_found');
    const shape = refusalShapeOf(request);
    if (shape === scimRefusal) reply.type(SCIM_MEDIA);
    return reply.status(refusal.status).send(shape ? shape(refusal) : errorBody(refusal, request.id));
  });
}

type ErrorShape = AnyRoute<never>['refusal'];

/** A route declares its protocol's errors. Without a route, the path tells the protocol. */
const refusalShapeOf = ({ routeOptions, url }: FastifyRequest): ErrorShape =>
  routeOptions.config?.declared?.refusal ?? shapeOfPath(url);

function shapeOfPath(url: string): ErrorShape {
  if (/^\/scim(?:[/?]|$)/.test(url)) return scimRefusal;
  return /^\/oauth(?:[/?]|$)/.test(url) ? oauthRefusal : undefined;
}

const JSON_MEDIA = 'application/json; charset=utf-8';

/** An error before there is a request of Fastify: by what is known of its address, in the form of its protocol. */
export function errorFormOf({ url = '' }: Pick<Partial<IncomingMessage>, 'url'>): {
  readonly media: string;
  readonly bodyOf: (refusal: Refusal, requestId: string) => object;
} {
  const shape = shapeOfPath(url);
  return {
    media: shape === scimRefusal ? SCIM_MEDIA : JSON_MEDIA,
    bodyOf: (refusal, requestId) => (shape ? shape(refusal) : errorBody(refusal, requestId)),
  };
}

/** RFC 7644 §3.11: 501 for `/Me` where it is not supported; bulk operations are alike. */
const isUnsupportedScim = ({ url }: FastifyRequest): boolean => /^\/scim\/v2\/(?:Me|Bulk)(?:[/?]|$)/.test(url);
