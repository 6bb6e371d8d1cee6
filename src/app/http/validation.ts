import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { FailureError, invalid, notFound, type Failure, type FieldError } from '../../platform/kernel/failure.ts';
import { tooMuchIn } from './json-shape.ts';
import type { AnyRoute } from './route.ts';
import { isForm } from './oauth-errors.ts';
import { wrongHeaders } from './wrong-headers.ts';
import {
  brokenFieldsOf,
  failureOfFields,
  failureOfIssues,
  fieldsOfIssues,
  GIVEN_ONCE,
  othersThan,
} from './wrong-fields.ts';

/** The name of a browser or operating system, in any case. Its output is lower case. */
export const familyName = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z
    .string()
    .transform((text) => text.trim().toLowerCase())
    .pipe(z.enum(names));

/** No body is like an empty object, if the schema does not accept its absence. So each required field is named. */
function read(schema: z.ZodType, data: unknown) {
  const checked = schema.safeParse(data, { reportInput: true });
  return checked.success || (data ?? undefined) !== undefined ? checked : schema.safeParse({}, { reportInput: true });
}

/** Validates requests with zod. A malformed id in a path is "not found", like an unknown id. */
export function validateWithZod(app: FastifyInstance): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (data: unknown) => {
    const checked = read(schema, data);
    if (checked.success) return { value: checked.data };
    const failure = httpPart === 'params' ? notFound() : failureOfIssues(httpPart ?? 'request', checked.error);
    return { error: new FailureError(failure) };
  });
  // Response schemas are documentation; tests, not the server, check responses against them.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Fields and parameters that are not text, found while the request was read. `refuseWrongInput` refuses them. */
    brokenTexts: readonly FieldError[] | undefined;
    /** Why the body could not be read at all. `refuseWrongInput` refuses it. */
    unreadBody: Failure | undefined;
  }
}

type JudgedParts = Pick<AnyRoute<never>, 'query'>;

/**
 * Refuses a request whose input is wrong, naming all of it at once: Fastify would stop at the first part with a mistake, and
 * headers, and texts that are none, are no part of a schema. Runs after validation, before any handler.
 */
export function refuseWrongInput(request: FastifyRequest, declared: AnyRoute<never>): void {
  const { validationError, brokenTexts = [], unreadBody } = request;
  if (validationError && !isAboutFields(validationError)) throw validationError;
  const unread = [...(unreadBody?.fields ?? []), ...wrongHeaders(request, declared)];
  const refused = [...fieldsOfSchemas(request, declared), ...fieldsOfJudge(request, declared)];
  if (unread.length + refused.length + brokenTexts.length === 0) return;
  const failure = failureOfFields([
    ...unread,
    ...othersThan(brokenTexts, [...refused, ...othersThan(refused, foreseen(request, declared))]),
    // Members that no route knows may be broken in hundreds: they leave room for the fields that count.
    ...brokenTexts,
  ]);
  if (failure) throw new FailureError(unreadBody ? { ...failure, code: unreadBody.code } : failure);
}

function fieldsOfSchemas(request: FastifyRequest, { query }: JudgedParts): readonly FieldError[] {
  const { validationError, unreadBody } = request;
  if (!validationError || !isAboutFields(validationError)) return [];
  const found = validationError.failure.fields ?? [];
  if (validationError.validationContext !== 'body') return found;
  // Fastify did not look at the query after a wrong body.
  const unseen = query && read(query, request.query);
  const ofQuery = unseen?.success === false ? fieldsOfIssues('querystring', unseen.error) : [];
  return unreadBody ? ofQuery : [...givenOnce(request, found), ...ofQuery];
}

/** The body is what its schema made of it, or what the client sent. */
const fieldsOfJudge = ({ body, unreadBody, services }: FastifyRequest, { judge }: AnyRoute<never>) =>
  unreadBody ? [] : (judge?.(body, services as never) ?? []);

const foreseen = ({ body, unreadBody, services }: FastifyRequest, { foresee }: AnyRoute<never>) =>
  unreadBody ? [] : (foresee?.(body, services as never) ?? []);

/** Of a field that a form repeats there is a list. */
const givenOnce = (request: FastifyRequest, found: readonly FieldError[]): readonly FieldError[] => {
  const body = isForm(request) ? (request.body as Readonly<Record<string, unknown>>) : {};
  return found.map((one) => (Array.isArray(body[one.field]) ? { ...one, message: GIVEN_ONCE } : one));
};

const isAboutFields = (error: Error): error is FailureError & { readonly validationContext?: string } =>
  error instanceof FailureError && error.failure.kind === 'invalid';

const SUSPECT = /\\u0000|\\ud[89a-f]/i;

const NOT_JSON = invalid('body', 'is not valid JSON', 'malformed_json');

/** In JavaScript, these members of an object are its class, not its content. */
const FORBIDDEN_MEMBER = invalid(
  'body',
  'must have no member __proto__, and no constructor with a member prototype',
  'malformed_json',
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Reads JSON bodies. Of one that cannot be read the reason is noted, so that it is refused with all else that is wrong. */
export function parseJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser(
    ['application/json', 'application/scim+json'],
    { parseAs: 'buffer' },
    (request, body, done) => {
      const unread = (failure: Failure) => {
        request.unreadBody = failure;
        done(null, undefined);
      };
      // Many clients send a content type with every request, also without a body.
      if (body.length === 0) return done(null, undefined);
      if (!isUtf8(body as Buffer)) return unread(invalid('body', 'is not UTF-8 text'));
      const { judgesText = false, mostParts } = request.routeOptions.config.declared ?? {};
      const wrong = tooMuchIn(body as Buffer, mostParts);
      if (wrong !== undefined) return unread(invalid('body', wrong));
      const text = body.toString('utf8');
      void parse(request, text, (error, value) => {
        if (error) return unread(isJson(text) ? FORBIDDEN_MEMBER : NOT_JSON);
        if (!judgesText && (SUSPECT.test(text) || text.includes('\u0000')))
          request.brokenTexts = [...(request.brokenTexts ?? []), ...brokenFieldsOf(value)];
        done(null, value);
      });
    },
  );
}
