import { z } from 'zod';
import { brokenTextsIn } from '../../platform/kernel/broken-text.ts';
import { FailureError, invalid, invalidFields, type Failure, type FieldError } from '../../platform/kernel/failure.ts';

/** Every issue by its field; the text names the first one: `validation failed: <field>: <reason>`. Never quotes a value. */
export const failureOfIssues = (part: string, error: z.ZodError): Failure =>
  failureOfFields(fieldsOfIssues(part, error)) ?? invalid(part, 'is invalid');

export const fieldsOfIssues = (part: string, { issues }: z.ZodError): readonly FieldError[] =>
  issues.map((issue) => fieldErrorOf(part, issue));

/** A body with thousands of wrong items does not get a response of that length. */
export const MAX_FIELDS = 100;

/** One refusal for all wrong fields, each of which is named once, with everything that is wrong with it. */
export function failureOfFields(wrong: readonly FieldError[]): Failure | undefined {
  const byField = new Map<string, string[]>();
  for (const { field, message } of wrong) {
    const messages = byField.get(field) ?? [];
    if (!messages.includes(message)) byField.set(field, [...messages, message]);
  }
  const [first, ...others] = [...byField].map(([field, messages]) => ({ field, message: messages.join(', ') }));
  return first && invalidFields([first, ...others.slice(0, MAX_FIELDS - 1)]);
}

const fieldErrorOf = (part: string, issue: z.core.$ZodIssue): FieldError => ({
  field: issue.path.length > 0 ? issue.path.map(String).join('.') : part,
  message: isRepeated(part, issue) ? GIVEN_ONCE : reasonOf(issue),
});

export const GIVEN_ONCE = 'must be given once';

/** Of a parameter that is given several times there is a list, which no parameter takes. */
const isRepeated = (part: string, { input }: z.core.$ZodIssue): boolean =>
  part === 'querystring' && Array.isArray(input);

function reasonOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? `is required` : `must be of type ${jsonTypeOf(issue.expected)}`;
    case 'too_small':
      return tooSmall(issue);
    case 'too_big':
      return `must be at most ${measure(issue.maximum, issue.origin)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      if (issue.format === 'email' && !isAscii(issue.input))
        return 'is not a valid email: a host in another script is written as xn--…';
      return issue.format === 'regex' && !issue.message.startsWith('Invalid')
        ? issue.message
        : `is not a valid ${issue.format}`;
    case 'invalid_union':
      if (issue.message.startsWith('must ')) return issue.message;
      return optionsOf(issue) ?? 'is invalid';
    case 'custom':
      return issue.message;
    default:
      return 'is invalid';
  }
}

/** As JSON calls it. */
const jsonTypeOf = (expected: string) => (expected === 'record' ? 'object' : expected);

const isAscii = (input: unknown): boolean => typeof input !== 'string' || !/\P{ASCII}/u.test(input);

/** The values of the field that tells the kinds of a body apart. Of one kind it may be absent: that is no value. */
function optionsOf(issue: z.core.$ZodIssue): string | undefined {
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options : [];
  const values = options.filter((option) => typeof option === 'string');
  return values.length === 0 ? undefined : `must be one of ${values.join(', ')}`;
}

const UNITS: ReadonlyMap<string, string> = new Map([
  ['string', 'character'],
  ['array', 'item'],
]);
const unitOf = (origin: string): string | undefined => UNITS.get(origin);

const tooSmall = ({ minimum, origin }: z.core.$ZodIssueTooSmall): string =>
  unitOf(origin) !== undefined && Number(minimum) === 1
    ? 'must not be empty'
    : `must be at least ${measure(minimum, origin)}`;

/** A number, or a length with its unit. */
function measure(bound: number | bigint, origin: string): string {
  const unit = unitOf(origin);
  return unit === undefined ? String(bound) : `${bound} ${unit}${Number(bound) === 1 ? '' : 's'} long`;
}

/** Names come from the client here: a longer path is not repeated. */
const LONGEST_PATH = 200;

/** The fields with NUL or lone surrogates, which neither database columns nor other systems accept. */
export const brokenFieldsOf = (value: unknown): readonly FieldError[] =>
  brokenTextsIn(value).map((path) => ({
    field: path === '' || path.length > LONGEST_PATH ? 'body' : path,
    message: 'contains characters that are not text',
  }));

export interface ReadInput<Output> {
  /** Undefined if the schema refused the value. */
  readonly data: Output | undefined;
  readonly wrong: readonly FieldError[];
}

/** What a schema reads of a form or a file, and all that is wrong with it: texts that are none, and what the schema refuses. */
export function readInput<Schema extends z.ZodType>(
  part: string,
  schema: Schema,
  value: unknown,
): ReadInput<z.output<Schema>> {
  const { data, error } = schema.safeParse(value, { reportInput: true });
  const broken = brokenFieldsOf(value);
  return { data, wrong: [...broken, ...othersThan(broken, error ? fieldsOfIssues(part, error) : [])] };
}

/** Of a field that is refused for this reason already nothing else is said, such as of a text that is none. */
export const othersThan = (refused: readonly FieldError[], fields: readonly FieldError[]): readonly FieldError[] =>
  fields.filter(({ field }) => !refused.some((one) => one.field === field));

/** Throws 400 that names all these fields, if there are any. */
export function refuseFields(wrong: readonly FieldError[]): void {
  const failure = failureOfFields(wrong);
  if (failure) throw new FailureError(failure);
}
