import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import type { FastifyInstance } from 'fastify';
import { invalid } from '../../platform/kernel/failure.ts';
import { brokenPairs } from './plugins/query-text.ts';

const MAX_BYTES = 64 * 1024;

/** Reads bodies in `application/x-www-form-urlencoded`. A field that comes several times is a list, as in a query. */
export function parseForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer', bodyLimit: MAX_BYTES },
    (request, body: Buffer, done) => {
      if (!isUtf8(body) || body.includes(0)) {
        request.unreadBody = invalid('body', 'is not UTF-8 text');
        return done(null, undefined);
      }
      const pairs = body.toString('utf8');
      request.brokenTexts = [...(request.brokenTexts ?? []), ...brokenPairs(pairs, 'body')];
      done(null, parse(pairs, '&', '=', { maxKeys: 0 }));
    },
  );
}
