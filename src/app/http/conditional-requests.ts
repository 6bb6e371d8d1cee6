import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag } from '../../platform/execution/entity-tags.ts';
import { isNotModified } from '../../contexts/policies/extension-responses.ts';
import type { FieldError } from '../../platform/kernel/failure.ts';
import type { AnyRoute } from './route.ts';

/** Tags are compared without `W/`: proxies that compress a response weaken its tag, and clients send that back. */
const tagsIn = (header: string): string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

/** RFC 9110 §8.8.3, without commas, which no tag of this service has. */
const TAG = /^"[\x21\x23-\x2b\x2d-\x7e]*"$/;

/** The tags in `If-Match` of a write; undefined if any state will do, because there is none or it is `*`. */
export function expectedTags(
  { headers, method }: FastifyRequest,
  { tagged }: AnyRoute<never>,
): readonly string[] | undefined {
  const header = headers['if-match'];
  if (!tagged || method === 'GET' || method === 'HEAD') return undefined;
  if (typeof header !== 'string' || header.trim() === '*') return undefined;
  return tagsIn(header);
}

/** What can be no tag would equal no state, and the client would read that the record was changed. */
export const wrongCondition = (request: FastifyRequest, declared: AnyRoute<never>): FieldError | undefined =>
  (expectedTags(request, declared) ?? []).every((tag) => TAG.test(tag))
    ? undefined
    : { field: 'If-Match', message: 'must be an ETag with its quotes, a list of them, or *' };

/** Sets `ETag`. Returns true if the client has this state already (`If-None-Match` on a read). */
export function tagResponse(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  { tagged }: AnyRoute<never>,
  body: unknown,
): boolean {
  if (!tagged || body === undefined || body === null) return false;
  const tag = entityTag(tagged(body as never));
  reply.header('etag', tag);
  return (method === 'GET' || method === 'HEAD') && isNotModified(headers['if-none-match'], tag);
}
