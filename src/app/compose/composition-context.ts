import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { DatabaseConfig } from '../../platform/database/logins.ts';
import type { Passwords } from '../../contexts/identity/passwords.ts';

export interface ComposeOptions {
  readonly log?: Logger;
  /** A database that somebody else runs and has migrated (tests); otherwise DATABASE_URL, otherwise the embedded one. */
  readonly database?: DatabaseConfig;
  /** Leave the doors shut: for commands beside the service. */
  readonly listen?: boolean;
  /** Leave projections and reactions to the service: for commands beside it. */
  readonly project?: boolean;
  /** Checks passwords at another cost than the service's (tests, whose passwords are no secrets). */
  readonly passwords?: Passwords;
}

/** Where a house is being built: what every part is given. */
export interface CompositionContext {
  readonly config: Config;
  readonly options: ComposeOptions;
  readonly log: Logger;
  /** What was started last is stopped first. */
  onStop(close: () => Promise<unknown> | void): void;
}
