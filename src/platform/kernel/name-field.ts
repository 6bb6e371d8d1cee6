import { z } from 'zod';

/** Control characters (line breaks among them) and the line and paragraph separators of Unicode. */
const ONE_LINE = /^[^\p{Cc}\u2028\u2029]*$/u;

/** Bounds of a name, in characters. */
export interface NameBounds {
  readonly min?: number;
  readonly max?: number;
}

/**
 * A name that people give to something: one line of text (OP-543). Names end up in headers, log lines, calendars and
 * messages, so none of them holds a line break or another control character. White space around it is removed.
 */
export const nameField = ({ min = 1, max = 200 }: NameBounds = {}) =>
  z.string().trim().min(min).max(max).regex(ONE_LINE, 'must be one line, without control characters');
