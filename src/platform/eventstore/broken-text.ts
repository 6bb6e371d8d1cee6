/** JSON escapes of NUL and of lone surrogates. An escaped backslash before the `u` does not count. */
const BROKEN_TEXT = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** True if a JSON text contains NUL or a lone surrogate, which PostgreSQL cannot store. */
export const holdsBrokenText = (json: string): boolean => json.includes('\\u') && BROKEN_TEXT.test(json);
