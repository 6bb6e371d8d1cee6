import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Position } from '../../platform/kernel/event.ts';
import { FailureError, type FieldError } from '../../platform/kernel/failure.ts';
import type { ReadModelName } from '../../platform/kernel/read-model-name.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';

export interface FreshnessDependencies {
  readonly freshness: Freshness;
  /** The models that a client may wait for with `X-Log-Position`. */
  readonly mainModels: readonly ReadModelName[];
}

/**
 * An identity provider sends no position with its next read, and creates again what it does not find. It waits a minute for
 * a response.
 */
const PROVISIONING_MS = 15_000;

/** Read your writes (choice OP-013). A time-out is not a failure: the response is marked as stale. */
export async function awaitFreshness(
  { principal }: FastifyRequest,
  reply: FastifyReply,
  { freshness }: Pick<FreshnessDependencies, 'freshness'>,
  models: readonly ReadModelName[],
  position: Position,
): Promise<void> {
  // With several commands in one request, the highest position counts, regardless of their order of completion.
  const named = BigInt(String(reply.getHeader('x-log-position') ?? 0));
  reply.header('x-log-position', (position > named ? position : named).toString());
  const longest = principal?.kind === 'scim' ? PROVISIONING_MS : undefined;
  if (models.length > 0 && !(await freshness.waitFor(models, position, longest))) reply.header('x-stale', 'true');
}

/**
 * Waits for the position in `X-Log-Position`; only for authenticated callers, because others cannot have written. After
 * a time-out the response says that it is stale, and further queries of the request do not wait again.
 */
export async function honourPosition(
  { headers, principal }: FastifyRequest,
  reply: FastifyReply,
  { freshness, mainModels }: FreshnessDependencies,
): Promise<void> {
  const asked = headers['x-log-position'];
  if (!principal || typeof asked !== 'string' || reply.hasHeader('x-stale')) return;
  if (!(await freshness.waitFor(mainModels, BigInt(asked)))) reply.header('x-stale', 'true');
}

const POSITION = /^\d{1,19}$/;

/** A position that is ignored would show the client data from before its write. */
export function wrongPosition({ headers, principal }: FastifyRequest): FieldError | undefined {
  const asked = headers['x-log-position'];
  return !principal || asked === undefined || POSITION.test(String(asked))
    ? undefined
    : { field: 'X-Log-Position', message: 'must be a position that a response had' };
}

/**
 * The write succeeded, but the read models did not catch up in time (choice OP-013). The new record is not found *yet*;
 * a 404 would make the caller write it again.
 */
export const isUnseen = (error: unknown, reply: FastifyReply): boolean =>
  reply.hasHeader('x-log-position') &&
  reply.getHeader('x-stale') === 'true' &&
  error instanceof FailureError &&
  error.failure.kind === 'notFound';
