/** Characters that JSON.stringify escapes: quotes, backslashes, control characters and lone surrogates. */
// eslint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

export const quoted = (text: string): string => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);

/**
 * The canonical form of a JSON value (RFC 8785): members sorted by name in UTF-16 order, no white space, numbers and
 * strings as ECMAScript prints them. Values that JSON cannot represent are left out, as in JSON.stringify.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if ('toJSON' in value) return canonicalJson(JSON.parse(JSON.stringify(value)));
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const object = value as Record<string, unknown>;
  for (const name of Object.keys(object).sort()) {
    const member = object[name];
    if (member !== undefined) text += `${text === '' ? '' : ','}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}
