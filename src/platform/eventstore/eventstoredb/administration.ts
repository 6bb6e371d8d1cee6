import { ConfigError } from '../../config-error.ts';
import { grantRights, isOpenToOthers, missingRights, userOf } from './access-rights.ts';
import { Connection } from './connection.ts';
import { serverSettings, type ServerSettings } from './connection-string.ts';
import { diagnoseConnection } from './diagnosis.ts';
import type { StoreAccess } from './stream-metadata.ts';
import { StreamReader } from './stream-reader.ts';
import { StreamWriter } from './stream-writer.ts';
import { createUser } from './users.ts';

const TIMEOUTS = { totalMs: 10_000, callMs: 5_000 };

export interface AccessReport {
  readonly lines: readonly string[];
  /** The service can start with these rights. */
  readonly isSufficient: boolean;
}

type Credentials = NonNullable<ServerSettings['user']>;

/** A user of the server's group `$admins`. */
export interface Administrator extends Credentials {
  /** The setting that holds it. */
  readonly setting?: string;
}

/** Runs what only an administrator may do. A refusal is the fault of the administrator's setting. */
type AsAdministrator = <T>(work: (admin: StoreAccess) => Promise<T>) => Promise<T>;

/** The server as an operator's command uses it: as the service's user, and as an administrator if there is one. */
export class Administration {
  readonly #settings: ServerSettings;
  readonly #user: StoreAccess;
  readonly #asAdmin: AsAdministrator | undefined;
  readonly #createUser: (user: Credentials) => Promise<boolean>;

  constructor(
    settings: ServerSettings,
    user: StoreAccess,
    asAdmin: AsAdministrator | undefined,
    create: (user: Credentials) => Promise<boolean>,
  ) {
    this.#settings = settings;
    this.#user = user;
    this.#asAdmin = asAdmin;
    this.#createUser = create;
  }

  /** Creates the service's user, if the server has none of that name. */
  async createUser(): Promise<string> {
    const { tls, user } = this.#settings;
    if (!tls || !user)
      throw new ConfigError(
        '--create-user needs TLS, and a user and a password in EVENTSTORE_URL or EVENTSTORE_PASSWORD',
      );
    const isNew = await this.#asAdmin!(() => this.#createUser(user));
    return isNew ? `created the user ${user.username}` : `there is a user ${user.username}, who keeps the password`;
  }

  async rights({ grant, exclusive }: { readonly grant: boolean; readonly exclusive: boolean }): Promise<AccessReport> {
    if (!this.#settings.tls)
      return {
        lines: ['EVENTSTORE_URL says tls=false: a server without TLS checks neither users nor rights'],
        isSufficient: true,
      };
    const user = userOf(this.#settings);
    if (!user)
      throw new ConfigError(
        'EVENTSTORE_URL names no user: write user:password@ before the host, or userCertFile and userKeyFile',
      );
    if (grant) await this.#asAdmin!((admin) => grantRights(admin, user, { exclusive }));
    const missing = await missingRights(this.#user, this.#settings);
    const lines =
      missing.length > 0
        ? missing.map((right) => `${user} may not ${right}`)
        : [`${user} has every right that the service needs`];
    if (await this.#asAdmin?.(isOpenToOthers)) {
      lines.push(
        'every other user of this server may read and write streams without an access list, including those of the service: revoke this with --grant --exclusive',
      );
    }
    return { lines, isSufficient: missing.length === 0 };
  }
}

/** Connects, runs `work`, and disconnects. Problems with the URL or the server are thrown as `ConfigError`. */
export async function openAdministration<T>(
  url: string,
  admin: Administrator | undefined,
  work: (server: Administration) => Promise<T>,
): Promise<T> {
  const settings = serverSettings(url);
  const adminSettings = admin && settingsOf(settings, admin);
  const connections = [settings, ...(adminSettings ? [adminSettings] : [])].map((each) => new Connection(each));
  const [user, administrator] = connections.map(accessBy);
  const create = (credentials: Credentials) => createUser(connections.at(-1)!, credentials, TIMEOUTS.callMs);
  const asAdmin: AsAdministrator | undefined =
    administrator && ((what) => what(administrator).catch(explained(adminSettings!)));
  try {
    // The service's user may lack every right, but the administrator must be able to read. Check the latter first.
    await asAdmin?.(({ reader }) => reader.newest());
    return await work(new Administration(settings, user!, asAdmin, create)).catch(explained(settings));
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
}

const settingsOf = (settings: ServerSettings, { setting, ...user }: Administrator): ServerSettings => ({
  ...settings,
  user,
  clientCertificate: undefined,
  givenBy: { ...settings.givenBy, administrator: setting ?? 'EVENTSTORE_ADMIN' },
});

function accessBy(connection: Connection): StoreAccess {
  const reader = new StreamReader(connection, TIMEOUTS);
  return { reader, writer: new StreamWriter(connection, reader), patience: TIMEOUTS };
}

const explained =
  (settings: ServerSettings) =>
  async (error: unknown): Promise<never> => {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(await diagnoseConnection(settings, error));
  };
