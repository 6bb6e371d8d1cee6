import type { Comparison, Filter } from './filter.ts';
import { isComplex, isUnassigned, type ScimValue } from './read-resource.ts';
import { attributeNamed, type ScimAttribute } from './schema.ts';

type Compared = string | number | boolean;

/** Whether one value of a list fulfils a condition on its sub-attributes. False for names that it does not have. */
export function matchesValue({ subAttributes = [] }: ScimAttribute, value: ScimValue, filter: Filter): boolean {
  const test = (inner: Filter): boolean => matchesValue({ subAttributes } as ScimAttribute, value, inner);
  switch (filter.op) {
    case 'and':
      return filter.filters.every(test);
    case 'or':
      return filter.filters.some(test);
    case 'not':
      return !test(filter.filter);
    case 'some':
      return false;
    default: {
      const sub = attributeNamed(subAttributes, filter.path.attribute);
      if (!sub || filter.path.sub !== undefined) return false;
      const actual = isComplex(value) ? (value[sub.name] as Compared | undefined) : undefined;
      if (filter.op === 'pr') return !isUnassigned(actual) && actual !== '';
      if (filter.value === null) return (filter.op === 'eq') === isUnassigned(actual);
      return actual === undefined
        ? filter.op === 'ne'
        : compares(filter.op, folded(sub, actual), folded(sub, filter.value));
    }
  }
}

const folded = ({ caseExact, type }: ScimAttribute, value: Compared): Compared => {
  if (type === 'boolean' && typeof value === 'string') return value.toLowerCase() === 'true';
  return typeof value === 'string' && !caseExact ? value.toLowerCase() : value;
};

function compares(op: Comparison, actual: Compared, wanted: Compared): boolean {
  const [a, b] = [String(actual), String(wanted)];
  switch (op) {
    case 'eq':
      return actual === wanted;
    case 'ne':
      return actual !== wanted;
    case 'co':
      return a.includes(b);
    case 'sw':
      return a.startsWith(b);
    case 'ew':
      return a.endsWith(b);
    case 'gt':
      return a > b;
    case 'ge':
      return a >= b;
    case 'lt':
      return a < b;
    case 'le':
      return a <= b;
  }
}
