import type { KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import type { AggregateReader } from './kernel/aggregate.ts';
import type { Claim } from './kernel/command.ts';
import type { EventFamily, Position } from './kernel/event.ts';
import type { TenantId } from './kernel/ids.ts';
import type { TenantReads } from './kernel/query.ts';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import type { EventCodec } from './eventstore/codec.ts';
import type { EventStore } from './eventstore/port.ts';
import type { AggregateLoader } from './execution/aggregate-loader.ts';
import type { Executor } from './execution/executor.ts';
import type { AccessTokens } from './identity/access-tokens.ts';
import type { OneTimeTokens } from './identity/one-time-tokens.ts';
import type { Passwords } from './identity/passwords.ts';
import type { RefreshTokens } from './identity/refresh-tokens.ts';
import type { Lookups } from './identity/lookups.ts';
import type { FeedTail } from './projector/feed-tail.ts';
import type { Freshness } from './projector/freshness.ts';
import type { Projector } from './projector/projector.ts';
import type { PersonKeys, Vault } from './vault/vault.ts';

/** What a command's `prepare` may reach: the write side and the slow or outside work, never a read model. */
export interface CommandPorts {
  readonly aggregates: AggregateReader;
  readonly vault: Vault;
  readonly personKeys: PersonKeys;
  readonly passwords: Passwords;
  readonly licensePublicKey: KeyObject;
  claimHolder(tenantId: TenantId, claim: Claim): Promise<string | undefined>;
}

/** The whole house, as the composition root built it. HTTP handlers, the CLI and the demo work through it. */
export interface Services {
  readonly config: Config;
  readonly log: Logger;
  readonly database: Database;
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
  readonly ports: CommandPorts;
  readonly tail: FeedTail;
  readonly freshness: Freshness;
  readonly projector: Projector;
  readonly vault: Vault;
  readonly personKeys: PersonKeys;
  readonly passwords: Passwords;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly oneTimeTokens: OneTimeTokens;
  readonly lookups: Lookups;
  /** Names of the read models in the main lane: what a later read with `X-Log-Position` waits for. */
  readonly mainModels: readonly string[];
  /** Every event family that the house knows: the catalogue, and what the audit log speaks of. */
  readonly families: readonly EventFamily[];
  reads(tenantId: TenantId): TenantReads;
  /** True for the address of a proxy whose forwarded client certificate and address are believed. */
  trustsProxy(address: string | undefined): boolean;
  head(): Promise<Position>;
}
