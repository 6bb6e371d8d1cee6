import { z } from 'zod';

type Kinds = readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]];

/**
 * A body of one of these kinds, which the field `name` tells apart. Zod judges nothing else if that field is wrong. This union
 * then also names what each of the kinds refuses: the wrong fields that all of them have (decision 0187).
 */
export const kindsBy = <const Of extends Kinds, const Name extends string>(
  name: Name,
  kinds: Of,
  params?: z.core.$ZodDiscriminatedUnionParams,
): z.ZodDiscriminatedUnion<Of, Name> => {
  // Zod copies a schema with its checks, for `.check(…)` and the like, and without what was replaced in it.
  const beside = z.superRefine<unknown>(() => undefined, { when: () => false });
  beside._zod.onattach.push((union) => judgeBeside(union, name, kinds));
  return z.discriminatedUnion(name, kinds, params).check(beside);
};

function judgeBeside(union: z.core.$ZodType, name: string, kinds: Kinds): void {
  (union._zod.deferred ??= []).push(() => {
    const { parse } = union._zod;
    union._zod.parse = (payload, context) => {
      const { value } = payload;
      const result = parse(payload, context);
      if (!(result instanceof Promise) && result.issues.some(isAboutKind))
        result.issues.push(...refusedByAll(kinds, name, { value, context }));
      return result;
    };
  });
}

type Issue = z.core.$ZodRawIssue;

const isAboutKind = (issue: Issue): boolean => issue.code === 'invalid_union' && 'discriminator' in issue;

interface Judged {
  readonly value: unknown;
  readonly context: z.core.ParseContextInternal;
}

/** Tries the kinds only as long as they have something in common: devices send hundreds of items. */
function refusedByAll([first, ...others]: Kinds, name: string, { value, context }: Judged): Issue[] {
  const refusedBy = (kind: z.core.$ZodTypeDiscriminable): Issue[] => {
    const result = kind._zod.run({ value, issues: [] }, context);
    return result instanceof Promise ? [] : result.issues.filter(({ path = [] }) => path[0] !== name);
  };
  let common = refusedBy(first);
  for (const kind of others) {
    if (common.length === 0) break;
    const found = new Set(refusedBy(kind).map(placeOf));
    common = common.filter((issue) => found.has(placeOf(issue)));
  }
  return common;
}

/** Of a field that the kinds limit differently, what the first of them says is named. */
const placeOf = ({ code, path }: Issue): string => JSON.stringify([code, path]);
