import type { FastifyRequest } from 'fastify';
import type { FieldError } from '../../platform/kernel/failure.ts';
import { wrongCondition } from './conditional-requests.ts';
import { wrongKey } from './keyed-routes.ts';
import { wrongPosition } from './read-your-writes.ts';
import type { AnyRoute } from './route.ts';
import { GIVEN_ONCE } from './wrong-fields.ts';
import { wrongTenant } from './tenant-header.ts';

type HeaderCheck = (request: FastifyRequest, declared: AnyRoute<never>) => FieldError | undefined;

const CHECKS: readonly HeaderCheck[] = [wrongTenant, wrongPosition, wrongCondition, wrongKey];

/** The headers of a request that the service acts upon and that are wrong, for an authenticated caller or an open route. */
export const wrongHeaders = (request: FastifyRequest, declared: AnyRoute<never>): readonly FieldError[] =>
  CHECKS.flatMap((check) => {
    const wrong = check(request, declared);
    if (wrong === undefined) return [];
    return isRepeated(request, wrong.field) ? { ...wrong, message: GIVEN_ONCE } : wrong;
  });

/** Node joins equal names with a comma, which makes a wrong value of two that are right. `If-Match` is a list. */
const isRepeated = ({ raw }: FastifyRequest, field: string): boolean =>
  field !== 'If-Match' && (raw.headersDistinct[field.toLowerCase()]?.length ?? 0) > 1;
