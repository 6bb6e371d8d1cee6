import { z } from 'zod';
import {
  FailureError,
  isFailure,
  tooLargeIn,
  type Failure,
  type FieldError,
} from '../../../../platform/kernel/failure.ts';

export const pemField = z.string().min(1);
/** Choice OP-210. */
const MAX_PEM_BYTES = 64 * 1024;

type PemTexts = Readonly<Record<string, string | null | undefined>>;

const isLarge = (text: unknown): boolean => typeof text === 'string' && Buffer.byteLength(text) > MAX_PEM_BYTES;

export function refuseLargePem(texts: PemTexts): void {
  const [first, ...others] = Object.keys(texts).filter((field) => isLarge(texts[field]));
  if (first !== undefined) throw new FailureError(tooLargeIn([first, ...others], 'must be at most 64 KiB'));
}

/**
 * For `judge`: of a body that the schema refuses, what `inspect` finds wrong with its other texts. `inspect` itself judges a
 * body that is right.
 */
export const besideWrongPem =
  <Names extends string>(
    schema: z.ZodType,
    names: readonly Names[],
    inspect: (texts: Record<Names, string>) => unknown,
  ) =>
  (body: unknown): readonly FieldError[] => {
    const given: Readonly<Record<string, unknown>> = typeof body === 'object' && body !== null ? { ...body } : {};
    if (Object.values(given).some(isLarge) || schema.safeParse(body).success) return [];
    const textOf = (name: string) => (typeof given[name] === 'string' ? given[name] : '');
    const found = inspect(Object.fromEntries(names.map((name) => [name, textOf(name)])) as Record<Names, string>);
    const fields = isFailure(found as Failure) ? ((found as Failure).fields ?? []) : [];
    return fields.filter(({ field }) => textOf(field) !== '');
  };
