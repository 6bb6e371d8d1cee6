import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import type { FieldError } from '../../../platform/kernel/failure.ts';

/** Notes query parameters that are not text, with NUL or escapes that are not UTF-8: `refuseWrongInput` refuses them. */
export function noteBrokenQueries(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.brokenTexts = brokenIn(request.url);
    done();
  });
}

/** NUL, or a byte outside ASCII: all that can be wrong. */
const SUSPECT = /%(?:00|[89a-f][0-9a-f])/i;
const ESCAPES = /(?:%[0-9a-f]{2})+/gi;

function brokenIn(url: string): readonly FieldError[] {
  const at = url.indexOf('?');
  return at < 0 ? [] : brokenPairs(url.slice(at + 1), 'query');
}

/** What is no text in pairs of a query or a form (`a=b&c=d`); a pair whose name is none is called `whole`. */
export const brokenPairs = (pairs: string, whole: string): readonly FieldError[] =>
  SUSPECT.test(pairs) ? pairs.split('&').flatMap((pair) => wrongIn(pair, whole) ?? []) : [];

function wrongIn(pair: string, whole: string): FieldError | undefined {
  const [name, value = ''] = pair.split(/=(.*)/s, 2) as [string, string?];
  const wrongName = wrongText(name);
  if (wrongName !== undefined) return { field: whole, message: wrongName };
  const wrongValue = wrongText(value);
  // The name decodes, because its escapes are UTF-8.
  return wrongValue === undefined ? undefined : { field: nameOf(name) ?? whole, message: wrongValue };
}

const nameOf = (text: string): string | undefined => [...new URLSearchParams(text).keys()][0];

function wrongText(text: string): string | undefined {
  const escaped = text.match(ESCAPES)?.map((run) => Buffer.from(run.replaceAll('%', ''), 'hex')) ?? [];
  if (escaped.some((bytes) => bytes.includes(0))) return 'must not contain NUL';
  return escaped.every((bytes) => isUtf8(bytes)) ? undefined : 'must be UTF-8 text';
}
