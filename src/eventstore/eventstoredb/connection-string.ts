const SCHEME = /^(esdb|kurrentdb)(\+discover)?:\/\//i;

/** Whether an `EVENTSTORE_URL` names this adapter. */
export const isEventStoreDbUrl = (url: string): boolean => SCHEME.test(url);

const KEEP_ALIVE = /([?&])keep[-_]?alive[-_]?timeout=(-?\d+)/i;
const KEEP_ALIVE_MS = 10_000;
/** What "never" means here: longer than anything lives, and short enough for a timer. */
const NEVER_MS = 2_000_000_000;
const SERIALS = 1_000;

/**
 * The string for one more client of this process. Clients whose settings are the same share one connection beneath them,
 * a dead one as well, so that a new client would be no better off than the one that was thrown away; each gets a
 * keep-alive timeout that is a few milliseconds its own.
 */
export function withOwnConnection(connectionString: string, serial: number): string {
  const given = KEEP_ALIVE.exec(connectionString)?.[2];
  const own = (given === undefined ? KEEP_ALIVE_MS : Number(given) < 0 ? NEVER_MS : Number(given)) + (serial % SERIALS);
  if (given !== undefined) return connectionString.replace(KEEP_ALIVE, `$1keepAliveTimeout=${own}`);
  return `${connectionString}${connectionString.includes('?') ? '&' : '?'}keepAliveTimeout=${own}`;
}

/** The URL as the client understands it: it knows the product by its former name only. */
export function connectionString(url: string): string {
  if (!isEventStoreDbUrl(url)) throw new TypeError('EVENTSTORE_URL must begin with esdb:// or kurrentdb://');
  const known = url.replace(SCHEME, (_scheme, _name, discover = '') => `esdb${discover.toLowerCase()}://`);
  if (/[?&]connection[-_]?name=/i.test(known)) return known;
  return `${known}${known.includes('?') ? '&' : '?'}connectionName=castellan`;
}
