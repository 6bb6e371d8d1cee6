import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { ConfigError } from '../../config-error.ts';
import { fileContent, whyUnread } from '../../file-content.ts';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** The settings that an operator corrects if the server does not accept what they hold. */
export interface GivenBy {
  /** `EVENTSTORE_URL`, or the setting that names a file with it. */
  readonly url: string;
  /** If the password is not in the URL. */
  readonly password: string | undefined;
  /** If the authority is not in a file that the URL names. */
  readonly authority: string | undefined;
  /** If the credentials are those of an administrator, in place of the service's user. */
  readonly administrator?: string;
}

/** The content of an `EVENTSTORE_URL`. */
export interface ServerSettings {
  /** At least one. */
  readonly hosts: readonly [Endpoint, ...Endpoint[]];
  /** Whether to ask the hosts for the leader. Otherwise the client connects to the one host. */
  readonly discovers: boolean;
  readonly tls: boolean;
  /** Only sent over TLS. */
  readonly user: { readonly username: string; readonly password: string } | undefined;
  /** PEM: the CAs to trust instead of the public ones. */
  readonly authorities: Buffer | undefined;
  /** PEM: the client certificate, used with or instead of a user. */
  readonly clientCertificate: { readonly certificate: Buffer; readonly privateKey: Buffer } | undefined;
  readonly connectionName: string;
  readonly keepAliveIntervalMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxDiscoverAttempts: number;
  readonly discoveryIntervalMs: number;
  /** Timeout for one node's response to the leader search. */
  readonly gossipTimeoutMs: number;
  readonly givenBy: GivenBy;
}

const SCHEME = /^(esdb|kurrentdb)(\+discover)?:\/\//i;
const DEFAULT_PORT = 2113;
const KEEP_ALIVE_MS = 10_000;
/** Stands for "never": longer than any connection lives, and short enough for a timer. */
const NEVER_MS = 2_000_000_000;
/** A call has 2.5 s. A node that is switched off must not use them up before the next node is asked. */
const GOSSIP_SECONDS = 1;

/** Spelled as in the client's documentation; case, `-` and `_` are ignored. */
const OPTIONS = [
  'tls',
  'tlsCAFile',
  'tlsCA',
  'userCertFile',
  'userKeyFile',
  'connectionName',
  'keepAliveInterval',
  'keepAliveTimeout',
  'maxDiscoverAttempts',
  'discoveryInterval',
  'gossipTimeout',
  'tlsVerifyCert',
  'nodePreference',
  'defaultDeadline',
  'throwOnAppendFailure',
  'givenBy',
] as const;
type Option = (typeof OPTIONS)[number];

const flat = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** Whether an `EVENTSTORE_URL` is for this adapter. */
export const isEventStoreDbUrl = (url: string): boolean => SCHEME.test(url);

/**
 * Parses an `EVENTSTORE_URL`. Throws a `ConfigError` that names the wrong part and never contains the password. (The
 * client's own parser prints the whole string, cuts passwords off at a colon, and ignores unknown options.)
 */
export function serverSettings(url: string): ServerSettings {
  const scheme = SCHEME.exec(url);
  if (!scheme) throw wrong('must begin with esdb:// or kurrentdb://');
  const [place, query = ''] = splitOnce(url.trim().slice(scheme[0].length), '?');
  const at = place.lastIndexOf('@');
  const hosts = hostsOf(place.slice(at + 1));
  const options = optionsOf(query);
  const tls = flag(options, 'tls', true);
  if (!flag(options, 'tlsVerifyCert', true))
    throw wrong('has tlsVerifyCert=false, which is not supported: name the file of the CA with tlsCAFile=');
  return {
    hosts,
    discovers: hosts.length > 1 || scheme[2] !== undefined,
    tls,
    user: at < 0 ? undefined : userOf(place.slice(0, at)),
    authorities: tls ? authorities(options) : undefined,
    clientCertificate: tls ? clientCertificate(options) : undefined,
    connectionName: options.get('connectionName') ?? 'castellan',
    keepAliveIntervalMs: milliseconds(options, 'keepAliveInterval'),
    keepAliveTimeoutMs: milliseconds(options, 'keepAliveTimeout'),
    maxDiscoverAttempts: count(options, 'maxDiscoverAttempts', 10),
    discoveryIntervalMs: count(options, 'discoveryInterval', 100),
    gossipTimeoutMs: count(options, 'gossipTimeout', GOSSIP_SECONDS) * 1_000,
    givenBy: settingsNamedBy(options),
  };
}

/** `givenBy` is no option for operators: whoever merges several settings into the URL names them with it. */
function settingsNamedBy(options: ReadonlyMap<Option, string>): GivenBy {
  const names = options.get('givenBy')?.split(',') ?? [];
  const given = (setting: string) => names.find((name) => name === setting || name === `${setting}_FILE`);
  return {
    url: given('EVENTSTORE_URL') ?? 'EVENTSTORE_URL',
    password: given('EVENTSTORE_PASSWORD'),
    authority: given('EVENTSTORE_CA'),
  };
}

export const endpointName = ({ address, port }: Endpoint): string => `${address}:${port}`;

const wrong = (what: string): ConfigError => new ConfigError(`EVENTSTORE_URL ${what}`);

function splitOnce(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function hostsOf(text: string): readonly [Endpoint, ...Endpoint[]] {
  const hosts = text
    .replace(/\/+$/, '')
    .split(',')
    .map((host): Endpoint => {
      const [address, port] = splitOnce(host.trim(), ':');
      if (!/^[\w.-]+$/.test(address)) throw wrong('names no valid host name or IPv4 address: write esdb://host:2113');
      const number = port === undefined ? DEFAULT_PORT : Number(port);
      if (!Number.isInteger(number) || number < 1 || number > 65_535)
        throw wrong(`has no valid port for the host ${address}: write ${address}:${DEFAULT_PORT}`);
      return { address, port: number };
    });
  return hosts as [Endpoint, ...Endpoint[]];
}

function userOf(text: string): { username: string; password: string } {
  const [username, password] = splitOnce(text, ':');
  if (!username || !password) throw wrong('needs a user and a password before the @: write esdb://user:password@host');
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    throw wrong('has a % in its user or password that is not part of an escape: write it as %25');
  }
}

function optionsOf(query: string): ReadonlyMap<Option, string> {
  const options = new Map<Option, string>();
  for (const pair of query.split('&').filter(Boolean)) {
    const [name, value = ''] = splitOnce(pair, '=');
    const known = OPTIONS.find((option) => flat(option) === flat(name));
    if (!known) throw wrong(`has an unknown option "${name.slice(0, 40)}": check its spelling`);
    if (value === '') throw wrong(`has no value for ${known}`);
    options.set(known, decoded(known, value.trim()));
  }
  return options;
}

function decoded(option: Option, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw wrong(`has a % in ${option} that is not part of an escape: write it as %25`);
  }
}

function flag(options: ReadonlyMap<Option, string>, name: Option, usual: boolean): boolean {
  const given = options.get(name) ?? String(usual);
  if (given !== 'true' && given !== 'false') throw wrong(`needs ${name} to be true or false`);
  return given === 'true';
}

function count(options: ReadonlyMap<Option, string>, name: Option, usual: number): number {
  const given = Number(options.get(name) ?? usual);
  if (!Number.isInteger(given) || given < 1) throw wrong(`needs ${name} to be a whole number above 0`);
  return given;
}

function milliseconds(options: ReadonlyMap<Option, string>, name: Option): number {
  return options.get(name) === '-1' ? NEVER_MS : Math.min(count(options, name, KEEP_ALIVE_MS), NEVER_MS);
}

function file(options: ReadonlyMap<Option, string>, name: Option): Buffer | undefined {
  const path = options.get(name);
  if (path === undefined) return undefined;
  try {
    return fileContent(path);
  } catch (error) {
    throw wrong(
      `names the file ${path} with ${name}, which cannot be read (${whyUnread(error)}): correct the path or its rights`,
    );
  }
}

/** Throws if the text does not begin with a certificate. */
const readFirst = (pem: string | Buffer): X509Certificate => new X509Certificate(pem);

/** Refuses an `EVENTSTORE_CA` that is no certificate. */
export function requireAuthority(pem: string): void {
  try {
    readFirst(pem);
  } catch {
    throw new ConfigError('EVENTSTORE_CA must begin with a certificate in PEM: that of the authority');
  }
}

function authorities(options: ReadonlyMap<Option, string>): Buffer | undefined {
  const text = options.get('tlsCA');
  const certificates = file(options, 'tlsCAFile');
  if (text !== undefined && certificates)
    throw wrong('has tlsCAFile, and EVENTSTORE_CA or tlsCA is set, too: remove one');
  if (text !== undefined) {
    requireAuthority(text);
    return Buffer.from(text);
  }
  try {
    if (certificates) readFirst(certificates);
  } catch {
    throw wrong(
      'names a file with tlsCAFile that does not begin with a certificate in PEM: name the file with the certificate of the authority',
    );
  }
  return certificates;
}

function clientCertificate(options: ReadonlyMap<Option, string>): ServerSettings['clientCertificate'] {
  const certificate = file(options, 'userCertFile');
  const privateKey = file(options, 'userKeyFile');
  if (!certificate && !privateKey) return undefined;
  if (!certificate || !privateKey) throw wrong('needs userCertFile and userKeyFile together');
  try {
    createSecureContext({ cert: certificate, key: privateKey });
  } catch {
    throw wrong('names files with userCertFile and userKeyFile that are not a certificate and its private key in PEM');
  }
  return { certificate, privateKey };
}
