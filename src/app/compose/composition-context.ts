import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { DatabaseConfig } from '../../platform/database/logins.ts';
import type { Passwords } from '../../contexts/identity/passwords.ts';

export interface ComposeOptions {
  readonly log?: Logger;
  /** A running, migrated database (tests). By default DATABASE_URL, or else the embedded database. */
  readonly database?: DatabaseConfig;
  /** `false`: open no listeners, for CLI commands. */
  readonly listen?: boolean;
  /** `false`: leave projections and reactions to the running service, for CLI commands beside it. */
  readonly project?: boolean;
  /** For commands that only look: no read models, reactions, jobs and seals, and no identity is recorded. */
  readonly onlyLooks?: boolean;
  /** Password hashing with another cost, for tests. */
  readonly passwords?: Passwords;
}

/** What every part of the application gets while it is composed. */
export interface CompositionContext {
  readonly config: Config;
  readonly options: ComposeOptions;
  readonly log: Logger;
  /** Parts are stopped in reverse order of registration. */
  onStop(close: () => Promise<unknown> | void): void;
}
