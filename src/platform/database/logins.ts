import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import pg from 'pg';

/** One role for each kind of work. Grants and policies name these groups (`castellan_…`); nobody can log in as one. */
export const DATABASE_ROLES = ['store', 'service', 'projector', 'reads'] as const;
export type DatabaseRole = (typeof DATABASE_ROLES)[number];
export const roleGroupOf = (role: DatabaseRole): string => `castellan_${role}`;

export interface DatabaseLogin {
  readonly user: string;
  /** Undefined where the server asks for none: the embedded one, whose socket nobody else can open. */
  readonly password?: string | undefined;
}
export type DatabaseLogins = Readonly<Record<DatabaseRole, DatabaseLogin>>;

/** Connects as the owner of the database; `logins` are for everything else. */
export interface DatabaseConfig extends pg.ClientConfig {
  readonly logins?: DatabaseLogins | undefined;
}

/** Settings that a URL brings for its sessions stand beside ours; within the URL they would replace them. */
export function connectionOf(url: string): DatabaseConfig {
  const [address = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  const options = parameters.get('options');
  if (options === null) return { connectionString: url };
  parameters.delete('options');
  return { connectionString: `${address}?${parameters}`, options };
}

/** Of the longest role name that PostgreSQL keeps whole (63 bytes), what the prefix and the digest leave. */
const LONGEST_NAME = 36;

/**
 * The roles that a database's connections log in as. A cluster's roles are shared by all of its databases, so their names hold the
 * database's: two installations in one cluster have different ones. Passwords are derived from `secret`, one for each role.
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
 * How to connect as a role's login. The session then takes the group's role: what it makes belongs to the group, and the login itself,
 * to which `set role none` leads back, inherits no right at all.
 */
export function asLogin(config: DatabaseConfig, role: DatabaseRole, settings = ''): pg.ClientConfig {
  const { logins, ...owner } = config;
  const { user, password } = (logins ?? loginsOf(owner.database ?? ''))[role];
  const options = [owner.options, `-c role=${roleGroupOf(role)}`, settings].filter(Boolean).join(' ');
  if (!owner.connectionString) return { ...owner, user, password, options };
  // In the URL, what stands behind the question mark comes before what stands in front of the @.
  const given = new URLSearchParams({ user, password: password ?? '' });
  return {
    ...owner,
    connectionString: `${owner.connectionString}${owner.connectionString.includes('?') ? '&' : '?'}${given}`,
    options,
  };
}

const ITERATIONS = 4_096; // RFC 7677

/** What PostgreSQL keeps of a password (RFC 5803): enough to check it, not to log in with. The same for the same password. */
export function verifierOf(password: string): string {
  const salt = createHash('sha256').update(`salt ${password}`).digest().subarray(0, 16);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const mac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(mac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${mac('Server Key').toString('base64')}`;
}
