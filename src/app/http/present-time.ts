import type { FieldError } from '../../platform/kernel/failure.ts';
import { instantField } from './list-query.ts';
import { textAt } from './plain-addresses.ts';

/** The time in a field of a body that its schema may have refused, in epoch milliseconds; NaN if there is none. */
function timeAt(body: unknown, field: string): number {
  const { data } = instantField.safeParse(textAt(body, field));
  return data === undefined ? Number.NaN : Date.parse(data);
}

/** For `foresee`: a time that the command accepts only if it is still to come. */
export const foreseeExpired =
  (field: string) =>
  (body: unknown): readonly FieldError[] =>
    timeAt(body, field) <= Date.now() ? [{ field, message: 'must be in the future' }] : [];

/** For `foresee`: a time that the command accepts only if it has passed. */
export const foreseeFuture =
  (field: string) =>
  (body: unknown): readonly FieldError[] =>
    timeAt(body, field) > Date.now() ? [{ field, message: 'must not be in the future' }] : [];
