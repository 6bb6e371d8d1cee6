const SCHEME = /^(esdb|kurrentdb)(\+discover)?:\/\//i;

/** Whether an `EVENTSTORE_URL` names this adapter. */
export const isEventStoreDbUrl = (url: string): boolean => SCHEME.test(url);

/** The URL as the client understands it: it knows the product by its former name only. */
export function connectionString(url: string): string {
  if (!isEventStoreDbUrl(url)) throw new TypeError('EVENTSTORE_URL must begin with esdb:// or kurrentdb://');
  const known = url.replace(SCHEME, (_scheme, _name, discover = '') => `esdb${discover.toLowerCase()}://`);
  if (/[?&]connection[-_]?name=/i.test(known)) return known;
  return `${known}${known.includes('?') ? '&' : '?'}connectionName=castellan`;
}
