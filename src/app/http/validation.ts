import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  FailureError,
  invalid,
  invalidFields,
  notFound,
  type Failure,
  type FieldError,
} from '../../platform/kernel/failure.ts';
import { tooMuchIn } from './json-shape.ts';
import { brokenTextsIn } from '../../platform/kernel/broken-text.ts';

/** Every issue by its field; the text names the first one: `validation failed: <field>: <reason>`. Never quotes a value. */
export function failureOfIssues(part: string, { issues }: z.ZodError): Failure {
  const [first = { field: part, message: 'is invalid' }, ...others] = issues.map((issue) => fieldErrorOf(part, issue));
  return invalidFields([first, ...others.slice(0, MOST_FIELDS - 1)]);
}

/** A body with thousands of wrong items does not get a response of that length. */
const MOST_FIELDS = 100;

const fieldErrorOf = (part: string, issue: z.core.$ZodIssue): FieldError => ({
  field: issue.path.length > 0 ? issue.path.map(String).join('.') : part,
  message: isRepeated(part, issue) ? 'must be given once' : reasonOf(issue),
});

/** Of a parameter that is given several times there is a list. */
const isRepeated = (part: string, { code, input }: z.core.$ZodIssue): boolean =>
  part === 'querystring' && code === 'invalid_type' && Array.isArray(input);

function reasonOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? `is required` : `must be of type ${issue.expected}`;
    case 'too_small':
      return `must be at least ${String(issue.minimum)}${unit(issue.origin)}`;
    case 'too_big':
      return `must be at most ${String(issue.maximum)}${unit(issue.origin)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return issue.format === 'regex' && !issue.message.startsWith('Invalid')
        ? issue.message
        : `is not a valid ${issue.format}`;
    case 'invalid_union':
      if (issue.message.startsWith('must ')) return issue.message;
      return optionsOf(issue) ?? 'is invalid';
    case 'custom':
      return issue.message;
    default:
      return 'is invalid';
  }
}

/** The values of the field that tells the kinds of a body apart. Of one kind it may be absent: that is no value. */
function optionsOf(issue: z.core.$ZodIssue): string | undefined {
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options : [];
  const values = options.filter((option) => typeof option === 'string');
  return values.length === 0 ? undefined : `must be one of ${values.join(', ')}`;
}

const unit = (origin: string) => (origin === 'string' ? ' characters long' : origin === 'array' ? ' items long' : '');

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

/** Names come from the client here: a longer path is not repeated. */
const LONGEST_PATH = 200;

/** Rejects NUL and lone surrogates, which neither database columns nor other systems accept. */
export function refuseBrokenText(value: unknown): void {
  const named = brokenTextsIn(value).map((path) => (path === '' || path.length > LONGEST_PATH ? 'body' : path));
  const [first, ...others] = [...new Set(named)].map((field) => ({
    field,
    message: 'contains characters that are not text',
  }));
  if (first) throw new FailureError(invalidFields([first, ...others]));
}

const SUSPECT = /\\u0000|\\ud[89a-f]/i;

export function parseJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser(
    ['application/json', 'application/scim+json'],
    { parseAs: 'buffer' },
    (request, body, done) => {
      // Many clients send a content type with every request, also without a body.
      if (body.length === 0) return done(null, undefined);
      if (!isUtf8(body as Buffer)) return done(new FailureError(invalid('body', 'is not UTF-8 text')), undefined);
      const { judgesText = false, mostParts } = request.routeOptions.config.declared ?? {};
      const wrong = tooMuchIn(body as Buffer, mostParts);
      if (wrong !== undefined) return done(new FailureError(invalid('body', wrong)), undefined);
      const text = body.toString('utf8');
      void parse(request, text, (error, value) => {
        if (error) return done(new FailureError(invalid('body', 'is not valid JSON', 'malformed_json')), undefined);
        try {
          if (!judgesText && (SUSPECT.test(text) || text.includes('\u0000'))) refuseBrokenText(value);
        } catch (broken) {
          return done(broken as Error, undefined);
        }
        done(null, value);
      });
    },
  );
}
