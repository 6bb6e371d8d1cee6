import type { FastifyRequest } from 'fastify';
import type { FieldError } from '../../platform/kernel/failure.ts';
import { wrongCondition } from './conditional-requests.ts';
import { wrongKey } from './keyed-routes.ts';
import { wrongPosition } from './read-your-writes.ts';
import type { AnyRoute } from './route.ts';
import { wrongTenant } from './tenant-header.ts';

type HeaderCheck = (request: FastifyRequest, declared: AnyRoute<never>) => FieldError | undefined;

const CHECKS: readonly HeaderCheck[] = [wrongTenant, wrongPosition, wrongCondition, wrongKey];

/** The headers of a request that the service acts upon and that are wrong, for an authenticated caller or an open route. */
export const wrongHeaders = (request: FastifyRequest, declared: AnyRoute<never>): readonly FieldError[] =>
  CHECKS.flatMap((check) => check(request, declared) ?? []);
