import { FailureError, invalid } from '../../../../platform/kernel/failure.ts';

export interface JsonBounds {
  readonly depth: number;
  /** Objects, lists, and members of either. */
  readonly parts: number;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Parses an uploaded JSON file in UTF-8. Throws 400 for the part `name`, before large structures are allocated. */
export function jsonOf(file: Buffer, name: string, bounds: JsonBounds): unknown {
  const fault = excess(file, bounds);
  if (fault) throw new FailureError(invalid(name, fault));
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(file));
  } catch {
    throw new FailureError(invalid(name, 'is not JSON in UTF-8'));
  }
}

/** Few bytes of JSON can become many objects in memory, so depth and parts are counted before parsing. */
function excess(file: Buffer, { depth: deepest, parts: most }: JsonBounds): string | undefined {
  let [depth, parts, quoted] = [0, 0, false];
  for (let at = 0; at < file.length; at += 1) {
    const byte = file[at]!;
    if (quoted) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
    else if (OPENING.has(byte)) {
      parts += 1;
      if ((depth += 1) > deepest) return `is nested more than ${deepest} deep`;
    } else if (CLOSING.has(byte)) depth -= 1;
    else if (byte === COMMA) parts += 1;
    if (parts > most) return 'holds too many parts';
  }
  return undefined;
}
