/** What JSON.stringify has to escape: quotes, backslashes, control characters and halves of surrogate pairs. */
// eslint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

export const quoted = (text: string): string => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);

/**
 * The one spelling of a JSON value (RFC 8785): members by name in UTF-16 order, no white space, numbers and strings as
 * ECMAScript prints them. What has no place in JSON is left out, as JSON.stringify does.
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
  for (const name of inOrder(Object.keys(object))) {
    const member = object[name];
    if (member !== undefined) text += `${text === '' ? '' : ','}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** By number of members: the names that came last, and their order. Events of a kind look alike, and comparing is cheaper than sorting. */
const orders: { readonly names: readonly string[]; readonly sorted: readonly string[] }[] = [];
const MAX_REMEMBERED = 64;

function inOrder(names: readonly string[]): readonly string[] {
  const known = orders[names.length];
  if (known?.names.every((name, index) => name === names[index])) return known.sorted;
  const sorted = [...names].sort();
  if (names.length < MAX_REMEMBERED) orders[names.length] = { names, sorted };
  return sorted;
}
