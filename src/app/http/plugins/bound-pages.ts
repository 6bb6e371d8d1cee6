import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AnyRoute } from '../route.ts';

/** Filters are all parameters but these: a client may change the size of its pages on the way. */
const ABOUT_THE_PAGE = new Set(['cursor', 'page', 'page_size']);
const BINDING_BYTES = 9;
const SEPARATOR = '.';

/**
 * Binds the cursors of a list to its address and filters (OP-563): `nextCursor` ends with a digest of them, and another
 * request's cursor is refused. The digest prevents mistakes, not attacks: a cursor never opens another tenant's rows.
 */
export const hasPageMarks = ({ query }: Pick<AnyRoute<never>, 'query'>): boolean =>
  query instanceof z.ZodObject && 'cursor' in query.shape && 'page' in query.shape;

/** Runs before validation, which then reads the cursor without its binding. */
export async function unbindPageMark(request: FastifyRequest): Promise<void> {
  const query = request.query as Record<string, unknown>;
  const { cursor } = query;
  if (typeof cursor !== 'string') return;
  const at = cursor.lastIndexOf(SEPARATOR);
  const isBound = at >= 0 && cursor.slice(at + 1) === bindingOf(request);
  // No cursor at all, which validation refuses together with whatever else is wrong.
  query['cursor'] = isBound ? cursor.slice(0, at) : '';
}

export async function bindPageMark(request: FastifyRequest, _reply: unknown, payload: unknown): Promise<unknown> {
  const { nextCursor } = (payload ?? {}) as { readonly nextCursor?: unknown };
  return typeof nextCursor === 'string'
    ? { ...(payload as object), nextCursor: `${nextCursor}${SEPARATOR}${bindingOf(request)}` }
    : payload;
}

/** From the parameters as they were sent: a list's own reading of them may depend on the day. */
function bindingOf({ url }: FastifyRequest): string {
  const [path, query = ''] = url.split('?', 2) as [string, string?];
  const filters = [...new URLSearchParams(query)].filter(([name]) => !ABOUT_THE_PAGE.has(name));
  const bound = JSON.stringify([path.replace(/\/+$/, ''), filters.map((filter) => JSON.stringify(filter)).sort()]);
  return createHash('sha256').update(bound).digest().subarray(0, BINDING_BYTES).toString('base64url');
}
