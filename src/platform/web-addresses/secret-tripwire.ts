const SECRET = /pass(?:word|wd|phrase|code)|^pass$|pwd|token|secret|api[-_]?key|private[-_]?key/i;
const DIGEST = /^[0-9a-f]{64}$/i;
/** Deeper than any data that an extension sends. */
const MAX_DEPTH = 12;

/** The part of a name that suggests a secret, in lower case; otherwise undefined. */
export const secretWord = (name: string): string | undefined => SECRET.exec(name)?.[0].toLowerCase();

export const soundsSecret = (name: string): boolean => SECRET.test(name);

/**
 * Finds the first field, at any depth, whose name suggests a secret. An extension that sends one is broken, and
 * nothing of what it sent may be stored (OP-155). Only a digest named `passwordHash` is allowed. Returns the field's
 * path, or undefined.
 */
export function findSecret(value: unknown): string | undefined {
  const waiting: { value: unknown; path: string; depth: number }[] = [{ value, path: '', depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { path, depth } = next;
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (depth > MAX_DEPTH) return path;
    for (const [name, inner] of Object.entries(next.value)) {
      const where = path ? `${path}.${name}` : name;
      if (soundsSecret(name) && !(name === 'passwordHash' && isDigest(inner))) return where.slice(0, MAX_PATH);
      if (typeof inner === 'object') waiting.push({ value: inner, path: where, depth: depth + 1 });
    }
  }
  return undefined;
}

const MAX_PATH = 100;
const isDigest = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'string' && DIGEST.test(value));
