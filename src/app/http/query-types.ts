import { z } from 'zod';

/**
 * A URL holds only text. A parameter that is read as a number, a truth value or a date declares here how the API
 * description shows it: clients that are generated from the description then take that type.
 */
export interface WrittenType {
  readonly type?: 'integer' | 'boolean' | 'string';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly object[];
}

/** The member of a JSON Schema under which a query's schema carries its type. */
export const WRITTEN_TYPE = 'x-written-type';

/** Only the description changes: what the schema accepts stays its own matter. */
export const writtenAs = <Schema extends z.ZodType>(schema: Schema, type: WrittenType): Schema =>
  schema.meta({ ...schema.meta(), [WRITTEN_TYPE]: type });

/** Digits, not negative. Above `maximum` it is refused, unless it is clamped. */
export const wholeNumberText = (
  { minimum, maximum, usual }: { readonly minimum: 0 | 1; readonly maximum: number; readonly usual?: number },
  aboveMaximum: 'refused' | 'clamped' = 'refused',
) => {
  const reason =
    aboveMaximum === 'clamped'
      ? `must be a whole number of at least ${minimum}`
      : `must be a whole number from ${minimum} to ${maximum}`;
  const digits = aboveMaximum === 'clamped' ? 15 : 9;
  const text = z
    .string()
    .regex(new RegExp(`^${minimum === 0 ? String.raw`\d` : '[1-9]'}\\d{0,${digits - 1}}$`), reason);
  const type = { type: 'integer', minimum, maximum, ...(usual === undefined ? {} : { default: usual }) } as const;
  return writtenAs(text, type)
    .transform(Number)
    .transform((number) => (aboveMaximum === 'clamped' ? Math.min(number, maximum) : number))
    .pipe(z.int().max(maximum));
};

/** `true` or `false`. */
export const truthText = () =>
  writtenAs(z.enum(['true', 'false']), { type: 'boolean' }).transform((text) => text === 'true');
