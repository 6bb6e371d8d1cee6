/**
 * The references to secrets that a state holds: the text under a name that ends with `Ref`, or anywhere under one that ends with
 * `Refs`, as events and states name them.
 * One that is held in two places is there twice.
 */
export function secretsIn(state: unknown): string[] {
  const found: string[] = [];
  const visit = (value: unknown, isSecret: boolean): void => {
    if (typeof value === 'string') {
      if (isSecret) found.push(value);
    } else if (value instanceof Map || value instanceof Set || Array.isArray(value)) {
      for (const one of value instanceof Map ? value.values() : value) visit(one, isSecret);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, one] of Object.entries(value)) visit(one, isSecret || /Refs?$/.test(name));
    }
  };
  visit(state, false);
  return found;
}
