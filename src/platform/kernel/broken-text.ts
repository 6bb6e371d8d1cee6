/**
 * The path of the first text with NUL or a lone surrogate, which neither database columns nor other systems accept.
 * A broken name counts for the object that has it; the empty path is the value itself. Undefined: there is none.
 */
export function brokenTextIn(value: unknown): string | undefined {
  const waiting: { value: unknown; path: string }[] = [{ value, path: '' }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value: current, path } = next;
    if (typeof current === 'string') {
      if (isBroken(current)) return path;
    } else if (typeof current === 'object' && current !== null) {
      for (const [name, item] of Object.entries(current)) {
        if (isBroken(name)) return path;
        if (typeof item === 'string' || (typeof item === 'object' && item !== null))
          waiting.push({ value: item, path: path === '' ? name : `${path}.${name}` });
      }
    }
  }
  return undefined;
}

const isBroken = (text: string): boolean => text.includes('\0') || !text.isWellFormed();
