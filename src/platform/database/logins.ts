import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import pg from 'pg';

/** One role for each kind of work. Grants and policies name these groups (`castellan_…`), which cannot log in. */
export const DATABASE_ROLES = ['store', 'service', 'projector', 'reads'] as const;
export type DatabaseRole = (typeof DATABASE_ROLES)[number];
export const roleGroupOf = (role: DatabaseRole): string => `castellan_${role}`;

export interface DatabaseLogin {
  readonly user: string;
  /** Undefined if the server requires none: the embedded one, whose socket no other user can open. */
  readonly password?: string | undefined;
}
export type DatabaseLogins = Readonly<Record<DatabaseRole, DatabaseLogin>>;

/** Connects as the owner of the database; `logins` are for everything else. */
export interface DatabaseConfig extends pg.ClientConfig {
  readonly logins?: DatabaseLogins | undefined;
}

/**
 * In these modes the driver checks the server's certificate and its host, as with `verify-full`. It warns on standard error
 * that a later version will not. So we say what is meant, unless libpq's meaning is asked for.
 */
const CHECKED_MODES = ['allow', 'prefer', 'require', 'verify-ca'];

/** Session settings in a URL are passed separately: within the URL they would replace ours. */
export function connectionOf(url: string): DatabaseConfig {
  const [address = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  const isChecked = CHECKED_MODES.includes(parameters.get('sslmode') ?? '');
  if (isChecked && parameters.get('uselibpqcompat') !== 'true') parameters.set('sslmode', 'verify-full');
  const options = parameters.get('options');
  parameters.delete('options');
  const connectionString = parameters.size === 0 ? address : `${address}?${parameters}`;
  return options === null ? { connectionString } : { connectionString, options };
}

/** The characters that prefix and digest leave of PostgreSQL's 63 bytes for a role name. */
const LONGEST_NAME = 36;

/**
 * The roles with which a database's connections log in. All databases of a cluster share its roles, so these names
 * contain the database's name: two installations in one cluster have different ones. Passwords are derived from
 * `secret`, one per role.
 */
export function loginsOf(database: string, secret?: Buffer): DatabaseLogins {
  const login = (role: DatabaseRole): DatabaseLogin => {
    const user = `${roleGroupOf(role)}_${suffixOf(database)}`;
    return secret ? { user, password: createHmac('sha256', secret).update(user).digest('base64url') } : { user };
  };
  return { store: login('store'), service: login('service'), projector: login('projector'), reads: login('reads') };
}

function suffixOf(database: string): string {
  if (/^[a-z0-9_]+$/.test(database) && database.length <= LONGEST_NAME) return database;
  const slug = database
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, LONGEST_NAME - 9);
  return `${slug}_${createHash('sha256').update(database).digest('hex').slice(0, 8)}`;
}

/**
 * How to connect as a role's login. The session then takes the group's role, so it creates objects that belong to the
 * group. The login itself, to which `set role none` returns, inherits no rights.
 */
export function asLogin(config: DatabaseConfig, role: DatabaseRole, settings = ''): pg.ClientConfig {
  const { logins, ...owner } = config;
  const { user, password } = (logins ?? loginsOf(owner.database ?? ''))[role];
  const options = [owner.options, `-c role=${roleGroupOf(role)}`, settings].filter(Boolean).join(' ');
  if (!owner.connectionString) return { ...owner, user, password, options };
  // In the URL, parameters after the question mark override user and password before the @.
  const given = new URLSearchParams({ user, password: password ?? '' });
  return {
    ...owner,
    connectionString: `${owner.connectionString}${owner.connectionString.includes('?') ? '&' : '?'}${given}`,
    options,
  };
}

const ITERATIONS = 4_096; // RFC 7677

/**
 * The verifier that PostgreSQL stores for a password (RFC 5803): enough to check it, not to log in. Deterministic per
 * password.
 */
export function verifierOf(password: string): string {
  const salt = createHash('sha256').update(`salt ${password}`).digest().subarray(0, 16);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const mac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(mac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${mac('Server Key').toString('base64')}`;
}
