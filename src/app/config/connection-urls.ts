import { ConfigError } from '../../platform/config-error.ts';
import {
  isEventStoreDbUrl,
  requireAuthority,
  serverSettings,
} from '../../platform/eventstore/eventstoredb/connection-string.ts';
import { parsedUrl } from '../../platform/kernel/parsed-url.ts';
import { checkParameters } from './database-parameters.ts';
import { fileSetting, isGiven, type GivenSettings, type SettingProblems } from './given-settings.ts';
import { pemText } from './setting-types.ts';

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

export function databaseUrlOf(given: GivenSettings, problems: SettingProblems): string | undefined {
  const url = given['DATABASE_URL'];
  if (url === undefined) return withoutUrl(given, DATABASE, problems);
  if (problems.of(() => readable(url, DATABASE)) === undefined) return undefined;
  checkParameters(url.split('?', 2)[1] ?? '', problems);
  return problems.of(() => withPassword(url, given['DATABASE_PASSWORD'], DATABASE, true));
}

export function redisUrlOf(given: GivenSettings, problems: SettingProblems): string | undefined {
  const url = given['REDIS_URL'];
  if (url === undefined) return withoutUrl(given, REDIS, problems);
  return problems.of(() => withPassword(readable(url, REDIS), given['REDIS_PASSWORD'], REDIS, false));
}

/** With `EVENTSTORE_PASSWORD` and `EVENTSTORE_CA`, if they are set. */
export function eventStoreUrlOf(given: GivenSettings, problems: SettingProblems): string | undefined {
  const url = given['EVENTSTORE_URL'];
  const authority = problems.of(() => authorityOf(given));
  if (url === undefined) return withoutUrl(given, EVENT_STORE, problems, 'EVENTSTORE_CA');
  if (!isEventStoreDbUrl(url)) {
    problems.add('EVENTSTORE_URL must begin with esdb:// or kurrentdb://');
    return undefined;
  }
  // The rest of the URL is judged without the password, if that is wrong.
  const complete = problems.of(() => withPassword(url, given['EVENTSTORE_PASSWORD'], EVENT_STORE, true)) ?? url;
  const givenBy = eventStoreSettings(given);
  const added = [
    ...(authority ? [`tlsCA=${encodeURIComponent(authority)}`] : []),
    ...(givenBy.length > 0 ? [`givenBy=${givenBy.join(',')}`] : []),
  ].join('&');
  const found = added ? `${complete}${complete.includes('?') ? '&' : '?'}${added}` : complete;
  problems.of(() => serverSettings(found));
  return found;
}

/** Judged by itself, so that it is named beside a wrong URL, and also where the URL has TLS switched off. */
function authorityOf(given: GivenSettings): string | undefined {
  const { data } = pemText.safeParse(given['EVENTSTORE_CA']);
  if (data !== undefined) requireAuthority(data);
  return data;
}

/** The settings that messages name in place of `EVENTSTORE_URL`. */
const eventStoreSettings = (given: GivenSettings): readonly string[] =>
  ['EVENTSTORE_URL', 'EVENTSTORE_PASSWORD', 'EVENTSTORE_CA'].flatMap((name) => {
    if (given[name] === undefined) return [];
    if (given[fileSetting(name)] !== undefined) return [fileSetting(name)];
    return name === 'EVENTSTORE_URL' ? [] : [name];
  });

/** A URL in a file that cannot be read is a problem of its own: then it is not missing. */
function withoutUrl(
  given: GivenSettings,
  { name, passwordName }: UrlOf,
  problems: SettingProblems,
  ...others: readonly string[]
): undefined {
  if (isGiven(given, name)) return undefined;
  for (const useless of [passwordName, ...others])
    if (given[useless] !== undefined) problems.add(`${useless} is set, and ${name} is not: set both`);
  return undefined;
}
