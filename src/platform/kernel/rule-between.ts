import { z } from 'zod';

/** What a rule says of an object: what is wrong with the first field that it reads; undefined if nothing is. */
export type BrokenBy<Value> = (value: Value) => string | undefined;

/**
 * For `.check(…)` of an object: a rule between these fields, which names the first of them. Zod judges an object only when
 * all its fields are right. This rule is judged as soon as the fields that it reads are (decision 0173), so a refusal names
 * its field beside others.
 */
export function ruleBetween<Value>(
  reads: readonly [string, ...string[]],
  broken: BrokenBy<Value>,
): z.core.$ZodCheck<Value> {
  const rule = z.superRefine<Value>(
    (value, { addIssue }) => {
      const message = broken(value);
      if (message !== undefined) addIssue({ code: 'custom', path: [reads[0]], message });
    },
    { when: ({ value, issues }) => isObject(value) && !issues.some(isOneOf(reads)) },
  );
  rule._zod.onattach.push(continueAfterFields);
  return rule;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

const isOneOf =
  (fields: readonly string[]) =>
  ({ path = [] }: { readonly path?: readonly PropertyKey[] | undefined }): boolean =>
    fields.includes(String(path[0]));

/** A field that ends its own judgement, such as a text that is too long, would end that of the object, with all rules. */
function continueAfterFields(schema: z.core.$ZodType): void {
  (schema._zod.deferred ??= []).push(() => {
    const { parse } = schema._zod;
    schema._zod.parse = (payload, context) => {
      const result = parse(payload, context);
      if (!(result instanceof Promise))
        for (const issue of result.issues) Object.assign(issue, { continue: undefined });
      return result;
    };
  });
}
