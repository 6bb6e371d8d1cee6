import { parsedUrl } from './parsed-url.ts';

/** Replaces a concealed field in the audit log. */
export const CONCEALED = '[concealed]';

/**
 * Fields that may carry a secret of a third party's system, by path (`config.url`), and what may be seen of them
 * outside their own resource. `address`: its origin; path and query often are a capability. `values`: the names of a
 * map.
 */
export type GuardedFields = Readonly<Record<string, 'address' | 'values'>>;

/** A copy of an event's data for the audit log, exports and forwarding. */
export function withoutGuarded<Data>(guarded: GuardedFields | undefined, data: Data): Data {
  return Object.entries(guarded ?? {}).reduce<Data>(
    (copy, [path, kind]) => replaced(copy, path.split('.'), kind === 'address' ? originOnly : namesOnly) as Data,
    data,
  );
}

function replaced(data: unknown, [name, ...rest]: readonly string[], hide: (value: unknown) => unknown): unknown {
  if (typeof data !== 'object' || data === null || name === undefined || !(name in data)) return data;
  const value = (data as Readonly<Record<string, unknown>>)[name];
  return { ...data, [name]: rest.length === 0 ? hide(value) : replaced(value, rest, hide) };
}

/** `https://hooks.example/[concealed]`. An address without path and query is shown whole. */
export function originOnly(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const url = parsedUrl(value);
  if (!url) return CONCEALED;
  const { protocol, host, pathname, search, hash } = url;
  const isBare = pathname === '/' || pathname === '';
  return isBare && search === '' && hash === '' ? `${protocol}//${host}` : `${protocol}//${host}/${CONCEALED}`;
}

/** True for an address of which `originOnly` hides nothing. */
export const isBareOrigin = (address: string): boolean => !String(originOnly(address)).includes(CONCEALED);

export const namesOnly = (value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.keys(value).map((name) => [name, CONCEALED]))
    : value;
