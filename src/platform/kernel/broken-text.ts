/** Whoever sends more of them learns of these first. */
const MAX_PATHS = 100;

/**
 * The paths of texts with NUL or a lone surrogate, which neither database columns nor other systems accept. A broken name
 * counts for the object that has it; the empty path is the value itself.
 */
export function brokenTextsIn(value: unknown): readonly string[] {
  const paths: string[] = [];
  const waiting: { value: unknown; path: string }[] = [{ value, path: '' }];
  for (let next = waiting.pop(); next && paths.length < MAX_PATHS; next = waiting.pop()) {
    const { value: current, path } = next;
    if (typeof current === 'string') {
      if (isBroken(current)) paths.push(path);
    } else if (typeof current === 'object' && current !== null) {
      // The last one first: what waits last is looked at next.
      for (const [name, item] of Object.entries(current).reverse()) {
        if (isBroken(name)) paths.push(path);
        else if (typeof item === 'string' || (typeof item === 'object' && item !== null))
          waiting.push({ value: item, path: path === '' ? name : `${path}.${name}` });
      }
    }
  }
  return paths;
}

const isBroken = (text: string): boolean => text.includes('\0') || !text.isWellFormed();
