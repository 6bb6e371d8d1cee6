import type { SettingProblems } from './given-settings.ts';
import { requirePem } from './pem-file.ts';

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/**
 * The parameters of a `DATABASE_URL` that the driver or the service reads, with their values if it knows only some. The
 * driver ignores any other parameter, and takes an unknown value for another word about TLS.
 */
const PARAMETERS: Readonly<Record<string, readonly string[] | 'any'>> = {
  application_name: 'any',
  client_encoding: 'any',
  fallback_application_name: 'any',
  host: 'any',
  idle_in_transaction_session_timeout: 'any',
  lock_timeout: 'any',
  options: 'any',
  password: 'any',
  port: 'any',
  query_timeout: 'any',
  // `false` would switch TLS on: the driver takes it for a text.
  ssl: ['true', '1', '0', 'no-verify'],
  sslcert: 'any',
  sslkey: 'any',
  sslmode: SSL_MODES,
  sslnegotiation: ['postgres', 'direct'],
  sslrootcert: 'any',
  statement_timeout: 'any',
  uselibpqcompat: ['true', 'false'],
  user: 'any',
};
const KNOWN = Object.keys(PARAMETERS).join(', ');

/** As much of a name as a message shows. */
const SHOWN = 40;

/** Notes what is wrong with the part of a `DATABASE_URL` after the question mark, by name. */
export function checkParameters(query: string, problems: SettingProblems): void {
  const parameters = new URLSearchParams(query);
  const add = (problem: string) => problems.add(`DATABASE_URL: ${problem}`);
  for (const name of new Set(parameters.keys())) {
    const values = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
    const [value, ...others] = parameters.getAll(name);
    if (values === undefined)
      add(`${name.slice(0, SHOWN)} is not a parameter, and would have no effect; those are ${KNOWN}`);
    else if (others.length > 0) add(`${name} is there twice: remove one`);
    else if (values !== 'any' && !values.includes(value!)) add(`${name} must be one of ${values.join(', ')}`);
  }
  checkTls(parameters, add);
  checkFiles(parameters, problems);
}

/** The driver throws an error of its own for these. */
function checkTls(parameters: URLSearchParams, add: (problem: string) => void): void {
  const mode = parameters.get('sslmode');
  const isOff = mode === null ? parameters.get('ssl') === '0' : mode === 'disable';
  if (isOff && parameters.get('sslnegotiation') === 'direct')
    add('sslnegotiation=direct needs TLS, which is switched off');
  if (mode === 'verify-ca' && parameters.get('uselibpqcompat') === 'true' && !parameters.get('sslrootcert'))
    add('sslmode=verify-ca needs sslrootcert with uselibpqcompat=true, or verify-full in its place');
}

/** The driver reads these files at every connection, and says nothing but what the file system or OpenSSL says. */
function checkFiles(parameters: URLSearchParams, problems: SettingProblems): void {
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const path = parameters.get(name);
    const kind = name === 'sslkey' ? 'PRIVATE KEY' : 'CERTIFICATE';
    if (path !== null) problems.of(() => requirePem(`DATABASE_URL: ${name}`, path, kind));
  }
}
