import { ConfigError } from '../../platform/config-error.ts';
import { isEventStoreDbUrl, serverSettings } from '../../platform/eventstore/eventstoredb/connection-string.ts';
import { parsedUrl } from '../../platform/kernel/parsed-url.ts';
import { fileSetting, secretFile } from './given-settings.ts';

/** The setting that holds a URL, and the one that may hold its password. */
interface UrlOf {
  readonly name: string;
  readonly passwordName: string;
  readonly form: string;
  readonly scheme: RegExp;
}

const DATABASE: UrlOf = {
  name: 'DATABASE_URL',
  passwordName: 'DATABASE_PASSWORD',
  form: 'postgresql://user@host:5432/database',
  scheme: /^postgres(?:ql)?:\/\//,
};
const REDIS: UrlOf = {
  name: 'REDIS_URL',
  passwordName: 'REDIS_PASSWORD',
  form: 'redis://host:6379 or rediss://host:6379',
  scheme: /^rediss?:\/\//,
};
const EVENT_STORE: UrlOf = {
  name: 'EVENTSTORE_URL',
  passwordName: 'EVENTSTORE_PASSWORD',
  form: 'esdb://user@host:2113',
  scheme: /^(?:esdb|kurrentdb)(?:\+discover)?:\/\//i,
};

/** Never shows a part of the value: in a URL that is cut at the wrong place, any part may be one of the password. */
const unreadable = ({ name, passwordName, form }: UrlOf): ConfigError =>
  new ConfigError(
    `${name} cannot be read: it must have the form ${form}. Put the password into ${passwordName}, or write / # ? @ % in it as %2F %23 %3F %40 %25`,
  );

const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?/i;

/** A user at a Unix socket: no host before the path, but `host` as a parameter, as in libpq. */
const AT_SOCKET = /^(postgres(?:ql)?:\/\/[^/?#]*@)(?=\/[^?]*\?(?:.*&)?host=)/;

const canParse = (url: string): boolean => parsedUrl(url.replace(AT_SOCKET, '$1socket')) !== undefined;

/**
 * Refuses what a URL parser would cut at the wrong place: `/`, `#` or `?` in a password that is not encoded. What follows
 * then contains the @ that ends the password.
 */
function readable(url: string, about: UrlOf): string {
  const rest = url.replace(AUTHORITY, '');
  if (!about.scheme.test(url) || /[#@\s]/.test(rest) || !canParse(url)) throw unreadable(about);
  try {
    decodeURIComponent(url);
  } catch {
    throw unreadable(about);
  }
  return url;
}

const USER = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?/i;

/** The URL with a password that a setting of its own holds, where no character of it can be mistaken. */
function withPassword(url: string, password: string | undefined, about: UrlOf, isUserRequired: boolean): string {
  if (password === undefined) return url;
  const user = USER.exec(url)?.[2] ?? '';
  if (user.includes(':'))
    throw new ConfigError(`${about.passwordName} and a password in ${about.name} are both set: remove one`);
  if (isUserRequired && user === '')
    throw new ConfigError(`${about.passwordName} needs a user in ${about.name}: ${about.form}`);
  return url.replace(USER, (_, scheme: string) => `${scheme}${user}:${encodeURIComponent(password)}@`);
}

type Given = Readonly<Record<string, string | undefined>>;

export function databaseUrlOf(given: Given): string | undefined {
  const url = given['DATABASE_URL'];
  if (url === undefined) return withoutUrl(given, DATABASE);
  const complete = withPassword(readable(url, DATABASE), given['DATABASE_PASSWORD'], DATABASE, true);
  checkTls(new URLSearchParams(url.split('?', 2)[1]));
  return complete;
}

/** What the driver makes of `sslmode`. Anything else it would take for no word about TLS. */
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** The driver reads these files at every connection, and says nothing but what the file system or OpenSSL says. */
function checkTls(parameters: URLSearchParams): void {
  const mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode))
    throw new ConfigError(`DATABASE_URL: sslmode must be one of ${SSL_MODES.join(', ')}`);
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const path = parameters.get(name);
    if (path === null) continue;
    const content = secretFile(`DATABASE_URL: ${name}`, path);
    const wanted = name === 'sslkey' ? 'PRIVATE KEY' : 'CERTIFICATE';
    if (!content.includes(`${wanted}-----`))
      throw new ConfigError(`DATABASE_URL: ${name} names ${path}, which holds no ${wanted} in PEM`);
  }
}

export function redisUrlOf(given: Given): string | undefined {
  const url = given['REDIS_URL'];
  if (url === undefined) return withoutUrl(given, REDIS);
  return withPassword(readable(url, REDIS), given['REDIS_PASSWORD'], REDIS, false);
}

/** With `EVENTSTORE_PASSWORD` and `EVENTSTORE_CA`, if they are set. */
export function eventStoreUrlOf(given: Given): string | undefined {
  const url = given['EVENTSTORE_URL'];
  if (url === undefined) return withoutUrl(given, EVENT_STORE, 'EVENTSTORE_CA');
  if (!isEventStoreDbUrl(url)) throw new ConfigError('EVENTSTORE_URL must begin with esdb:// or kurrentdb://');
  const complete = withPassword(url, given['EVENTSTORE_PASSWORD'], EVENT_STORE, true);
  const authority = given['EVENTSTORE_CA'];
  const givenBy = eventStoreSettings(given);
  const added = [
    ...(authority ? [`tlsCA=${encodeURIComponent(authority)}`] : []),
    ...(givenBy.length > 0 ? [`givenBy=${givenBy.join(',')}`] : []),
  ].join('&');
  const found = added ? `${complete}${complete.includes('?') ? '&' : '?'}${added}` : complete;
  serverSettings(found);
  return found;
}

/** The settings that messages name in place of `EVENTSTORE_URL`. */
const eventStoreSettings = (given: Given): readonly string[] =>
  ['EVENTSTORE_URL', 'EVENTSTORE_PASSWORD', 'EVENTSTORE_CA'].flatMap((name) => {
    if (given[name] === undefined) return [];
    if (given[fileSetting(name)] !== undefined) return [fileSetting(name)];
    return name === 'EVENTSTORE_URL' ? [] : [name];
  });

function withoutUrl(given: Given, { name, passwordName }: UrlOf, ...others: readonly string[]): undefined {
  const useless = [passwordName, ...others].find((other) => given[other] !== undefined);
  if (useless) throw new ConfigError(`${useless} is set, and ${name} is not: set both`);
  return undefined;
}
