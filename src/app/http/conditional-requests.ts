import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag } from '../../platform/execution/entity-tags.ts';
import { isNotModified } from '../../contexts/policies/extension-responses.ts';
import type { FieldError } from '../../platform/kernel/failure.ts';
import type { AnyRoute } from './route.ts';

/**
 * Tags are compared without `W/`: proxies that compress a response weaken its tag, and clients send that back. Empty elements
 * of a list do not count (RFC 9110 §5.6.1.2); a list of nothing else names no tag.
 */
function tagsIn(header: string): string[] {
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  const named = tags.filter((tag) => tag !== '');
  return named.length > 0 ? named : [''];
}

/** RFC 9110 §8.8.3, without commas, which no tag of this service has. */
const TAG = /^"[\x21\x23-\x2b\x2d-\x7e]*"$/;

/**
 * The header of RFC 9110 §13.1 that a route understands. A creation has no earlier state, so it understands none. Of SCIM,
 * only single resources have entity tags (RFC 7644 §3.14).
 */
export function conditionOf(declared: AnyRoute<never>): 'If-Match' | 'If-None-Match' | undefined {
  const { method, status, tagged, sends = [], access, params } = declared;
  if (method === 'GET') return tagged !== undefined || sends.includes('ETag') ? 'If-None-Match' : undefined;
  const isScimResource = access.kind === 'scim' && params !== undefined;
  return isScimResource || (tagged !== undefined && status !== CREATED) ? 'If-Match' : undefined;
}

const CREATED = 201;

/** The tags in `If-Match` of a write; undefined if any state will do, because there is none or it is `*`. */
export function expectedTags({ headers }: FastifyRequest, declared: AnyRoute<never>): readonly string[] | undefined {
  const header = headers['if-match'];
  if (!declared.tagged || conditionOf(declared) !== 'If-Match') return undefined;
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
