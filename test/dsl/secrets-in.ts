/**
 * The references to secrets in a state: the text under a name that ends with `Ref`, or anywhere under one that ends
 * with `Refs`, as events and states name them.
 * A reference in two places is returned twice.
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
