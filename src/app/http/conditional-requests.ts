import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag } from '../../platform/execution/entity-tags.ts';
import { isNotModified } from '../../contexts/policies/extension-responses.ts';
import type { AnyRoute } from './route.ts';

/** Tags are compared without `W/`: proxies that compress a response weaken its tag, and clients send that back. */
const tagsIn = (header: string): string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

/** The tags in `If-Match`; undefined if any state will do, because there is none or it is `*`. */
export function expectedTags({ headers }: FastifyRequest, { tagged }: AnyRoute<never>): readonly string[] | undefined {
  const header = headers['if-match'];
  return tagged && typeof header === 'string' && header.trim() !== '*' ? tagsIn(header) : undefined;
}

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
