/** What JSON.stringify has to escape: quotes, backslashes, control characters and halves of surrogate pairs. */
// eslint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

export const quoted = (text: string): string => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);

/**
 * The one spelling of a JSON value (RFC 8785): members by name in UTF-16 order, no white space, numbers and strings as
 * ECMAScript prints them. For values that JSON.parse can answer.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return canonicalArray(value);
  const object = value as Record<string, unknown>;
  let text = '';
  for (const name of inOrder(Object.keys(object))) {
    text += `${text === '' ? '' : ','}${quoted(name)}:${canonicalJson(object[name])}`;
  }
  return `{${text}}`;
}

function canonicalArray(items: readonly unknown[]): string {
  let text = '';
  for (let index = 0; index < items.length; index += 1) text += (index === 0 ? '' : ',') + canonicalJson(items[index]);
  return `[${text}]`;
}

/** Most objects are small and many are in order already: comparing neighbours is cheaper than a sort. */
function inOrder(names: string[]): string[] {
  for (let index = 1; index < names.length; index += 1) {
    if (names[index - 1]! > names[index]!) return names.sort();
  }
  return names;
}
