import type { FastifyRequest } from 'fastify';
import type { FieldError } from '../../platform/kernel/failure.ts';
import type { Access } from './access.ts';

interface KeyedRoute {
  readonly method: string;
  readonly access: Access;
  readonly streamsFile?: true;
  readonly issuesProof?: true;
}

/** Whether a request may carry `Idempotency-Key` (OP-014). */
export const takesIdempotencyKey = ({ method, access: { kind }, streamsFile, issuesProof }: KeyedRoute): boolean =>
  method === 'POST' && (kind === 'admin' || kind === 'org') && !streamsFile && !issuesProof;

const KEY = /^[\x21-\x7e]{1,200}$/;

/** The key of a request that takes one: of admins. Anonymous callers, devices and identity providers have none. */
export function idempotencyKeyOf({ headers, principal }: FastifyRequest, declared: KeyedRoute): string | undefined {
  const key = headers['idempotency-key'];
  const isOfAdmin = principal?.kind === 'admin' || principal?.kind === 'org_admin';
  return isOfAdmin && takesIdempotencyKey(declared) ? key?.toString() : undefined;
}

export function wrongKey(request: FastifyRequest, declared: KeyedRoute): FieldError | undefined {
  const key = idempotencyKeyOf(request, declared);
  return key === undefined || KEY.test(key)
    ? undefined
    : { field: 'Idempotency-Key', message: 'must be 1 to 200 printable characters' };
}
