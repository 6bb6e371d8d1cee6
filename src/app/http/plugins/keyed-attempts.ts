import type { FastifyReply, FastifyRequest } from 'fastify';
import { uploadedFileOf } from '../file-part.ts';
import { idempotencyKeyOf } from '../keyed-routes.ts';
import type { AnyRoute } from '../route.ts';
import type { IdempotentResponses, StoredResponse } from './idempotent-responses.ts';
import type { KeyedRequest } from './keyed-request.ts';

/** Undefined for a request without a key, or that takes none. */
export async function beginKeyed(
  request: FastifyRequest,
  declared: AnyRoute<never>,
  responses: IdempotentResponses,
): Promise<StoredResponse | KeyedRequest | undefined> {
  const { access, file } = declared;
  const { principal, method, url, body } = request;
  const key = idempotencyKeyOf(request, declared);
  if (key === undefined || (principal?.kind !== 'admin' && principal?.kind !== 'org_admin')) return undefined;
  const content = file ? await uploadedFileOf(request, file) : JSON.stringify(body ?? null);
  const asksForProof = access.kind === 'admin' && access.reauthWhere !== undefined;
  const reauthenticated = asksForProof && principal.kind === 'admin' ? principal.reauthenticated : undefined;
  return responses.begin({
    tenantId: principal.tenantId,
    subjectId: principal.adminId,
    key,
    request: [method, url, content],
    standing: { role: principal.role, reauthenticated },
  });
}

export function replay(reply: FastifyReply, { status, body, logPosition }: StoredResponse): FastifyReply {
  if (logPosition !== undefined) reply.header('x-log-position', logPosition);
  return reply.status(status).header('idempotent-replayed', 'true').type('application/json').send(body);
}

/** Files are not stored: a retry builds the same file again. */
export async function keepForRetries(
  responses: IdempotentResponses,
  keyed: KeyedRequest,
  reply: FastifyReply,
  status: number,
  outcome: unknown,
): Promise<void> {
  if (typeof outcome === 'object' && !Buffer.isBuffer(outcome)) {
    const logPosition = reply.getHeader('x-log-position') as string | undefined;
    await responses.keep(keyed, { status, body: JSON.stringify(outcome), logPosition });
  } else {
    keyed.hasAppended();
    await responses.release(keyed);
  }
}
