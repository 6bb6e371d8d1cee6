import type { z } from 'zod';
import { invalid, type Failure } from '../kernel/failure.ts';
import { ruleBetween } from '../kernel/rule-between.ts';
import type { AnyValues, Fields, Values } from './fields.ts';

/** A rule between fields of a record. */
export interface FieldRule<F extends Fields> {
  /** The fields that it reads, first the one that it names. */
  readonly reads: readonly [keyof F & string, ...(keyof F & string)[]];
  /** What is wrong with the first one; undefined if nothing is. */
  broken(this: void, values: Values<F>): string | undefined;
}

interface WithRule {
  readonly rule?: FieldRule<Fields>;
}

export function brokenRuleOf({ rule }: WithRule, values: AnyValues): Failure | undefined {
  const message = rule?.broken(values as never);
  return rule && message !== undefined ? invalid(rule.reads[0], message) : undefined;
}

/** The rule in a body that has all the fields that it reads. Otherwise the stored ones decide: see `brokenRuleOf`. */
export function withRule(schema: z.ZodObject, { rule }: WithRule): z.ZodObject {
  if (!rule) return schema;
  const { reads, broken } = rule;
  const isWhole = (values: AnyValues) => reads.every((name) => values[name] !== undefined);
  return schema.check(
    ruleBetween<AnyValues>(reads, (values) => (isWhole(values) ? broken(values as never) : undefined)),
  );
}
