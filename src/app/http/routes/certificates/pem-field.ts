import { z } from 'zod';
import {
  FailureError,
  isFailure,
  tooLargeIn,
  type Failure,
  type FieldError,
} from '../../../../platform/kernel/failure.ts';
import { refuseFields } from '../../wrong-fields.ts';

export const pemField = z.string().min(1);
/** Choice OP-210. */
const MAX_PEM_BYTES = 64 * 1024;
const TOO_LARGE = 'must be at most 64 KiB';

const isLarge = (text: unknown): boolean => typeof text === 'string' && Buffer.byteLength(text) > MAX_PEM_BYTES;

export interface PemTexts {
  /** For `foresee`: every text that is too large, and what `inspect` finds wrong with the others. */
  foresee(body: unknown): readonly FieldError[];
  /** Of a body that its schema takes: throws 413 for texts that are too large, or 400 if another text is wrong, too. */
  refuseLarge(body: object): void;
}

/** The PEM texts with these names in a body. `inspect` is what the command does with them. */
export function pemTexts<Names extends string>(
  names: readonly Names[],
  inspect: (texts: Record<Names, string>) => unknown,
): PemTexts {
  const foresee = (body: unknown): readonly FieldError[] => {
    const given: Readonly<Record<string, unknown>> = typeof body === 'object' && body !== null ? { ...body } : {};
    const textOf = (name: string) => (typeof given[name] === 'string' && !isLarge(given[name]) ? given[name] : '');
    const found = inspect(Object.fromEntries(names.map((name) => [name, textOf(name)])) as Record<Names, string>);
    const fields = isFailure(found as Failure) ? ((found as Failure).fields ?? []) : [];
    return [
      ...names.filter((name) => isLarge(given[name])).map((field) => ({ field, message: TOO_LARGE })),
      ...fields.filter(({ field }) => textOf(field) !== ''),
    ];
  };
  const refuseLarge = (body: object): void => {
    const [first, ...others] = names.filter((name) => isLarge((body as Partial<Record<Names, unknown>>)[name]));
    if (first === undefined) return;
    const wrong = foresee(body);
    if (wrong.length > 1 + others.length) refuseFields(wrong);
    throw new FailureError(tooLargeIn([first, ...others], TOO_LARGE));
  };
  return { foresee, refuseLarge };
}
