import type { Logger } from 'pino';
import type { ArrivalBudgets } from './arrivals/arrival-budgets.ts';
import type { ObservationAllowance } from './arrivals/observation-allowance.ts';
import type { TechnologyAllowance } from './arrivals/technology-allowance.ts';
import type { CommandPorts } from '../commands/ports.ts';
import type { EventFamily, Position } from './kernel/event.ts';
import type { TenantId } from './kernel/ids.ts';
import type { AnyReadModel } from './kernel/read-model.ts';
import type { ReadModelName } from './kernel/read-model-name.ts';
import type { TenantReads } from './kernel/query.ts';
import type { SealAlarms } from './audit/seal-alarms.ts';
import type { SharedRuns } from './audit/shared-runs.ts';
import type { Walking } from './audit/stretches.ts';
import type { AuditVerdict } from './audit/verify.ts';
import type { Settings } from './config.ts';
import type { ChainKey } from './domain/audit/chain-key.ts';
import type { ExtensionAnswers } from './http/extension-answers.ts';
import type { StreamRetention } from './http/telemetry-retention.ts';
import type { PendingRequests } from './sso/saml/pending-requests.ts';
import type { Database } from './database/database.ts';
import type { EventCodec } from './eventstore/codec.ts';
import type { LogTrust } from './eventstore/log-trust.ts';
import type { EventStore } from './eventstore/port.ts';
import type { AggregateLoader } from './execution/aggregate-loader.ts';
import type { Executor } from './execution/executor.ts';
import type { AccessTokens } from './identity/access-tokens.ts';
import type { InstallationIdentity } from './installation/installation-identity.ts';
import type { KnownBrowsers } from './identity/known-browsers.ts';
import type { OneTimeTokens } from './identity/one-time-tokens.ts';
import type { Passwords } from './identity/passwords.ts';
import type { RefreshTokens } from './identity/refresh-tokens.ts';
import type { VerificationCodes } from './identity/verification-codes.ts';
import type { Lookups } from './identity/lookups.ts';
import type { Limits } from './limits.ts';
import type { FeedTail } from './projector/feed-tail.ts';
import type { Freshness } from './projector/freshness.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { LiveState } from './projector/live-state.ts';
import type { Projector } from './projector/projector.ts';
import type { ServiceState } from './service-state.ts';
import type { BundleSigner } from './extension/bundle-signer.ts';
import type { ListenerCertificate } from './tls/listener-certificate.ts';
import type { TxtRecords } from './outbound/txt-records.ts';
import type { Portal } from './portal/portal.ts';
import type { Pictures } from './screenshots/pictures.ts';
import type { SignedAddresses } from './screenshots/signed-addresses.ts';
import type { DomainScans } from './threat-intel/domain-scans.ts';
import type { PersonKeys, Vault } from './vault/vault.ts';

/** The whole house, as the composition root built it. HTTP handlers, the CLI and the demo work through it. */
export interface Services {
  /** Without keys and credentials of the installation: nobody who works for a request can reach one. */
  readonly config: Settings;
  readonly log: Logger;
  readonly database: Database;
  readonly store: EventStore;
  /** Whether the log is the one that this process knows; `store` refuses to write while it is not. */
  readonly trust: LogTrust;
  /** Whose log and tables these are. */
  readonly installation: InstallationIdentity;
  readonly codec: EventCodec;
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
  readonly ports: CommandPorts & { readonly arrivals: ArrivalBudgets; readonly verificationCodes: VerificationCodes };
  readonly tail: FeedTail;
  readonly freshness: Freshness;
  readonly projector: Projector;
  readonly jobs: Jobs;
  readonly vault: Vault;
  readonly personKeys: PersonKeys;
  readonly portal: Portal;
  /** What browsers photographed. */
  readonly pictures: Pictures;
  readonly screenshotAddresses: SignedAddresses;
  readonly domainScans: DomainScans;
  /** What a device may still report, by arrival. */
  readonly observations: ObservationAllowance;
  readonly technologies: TechnologyAllowance;
  readonly bundleSigner: BundleSigner;
  /** What the TLS listener of this process shows. */
  listenerCertificate(): ListenerCertificate;
  readonly passwords: Passwords;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly knownBrowsers: KnownBrowsers;
  readonly oneTimeTokens: OneTimeTokens;
  readonly lookups: Lookups;
  /** For look-ups of other rooms that must be forgotten when an event says so. */
  readonly live: LiveState;
  /** Every read model that this installation maintains. */
  readonly models: readonly AnyReadModel[];
  /** Names of the read models in the main lane: what a later read with `X-Log-Position` waits for. */
  readonly mainModels: readonly ReadModelName[];
  accountDigest(email: string): string;
  /** A digest that nobody without the installation's key can compute: what a domain has to show. */
  domainChallenge(of: string): string;
  readonly txtRecords: TxtRecords;
  /** The tenant's salt for password digests that extensions compute (choice OP-155). */
  credentialSalt(tenantId: TenantId): string;
  /** Every event family that the house knows: the catalogue, and what the audit log speaks of. */
  readonly families: readonly EventFamily[];
  reads(tenantId: TenantId): TenantReads;
  /** Checks audit chains without showing the key. */
  readonly chainKey: ChainKey;
  readonly chainWalking: Walking | undefined;
  readonly verifications: SharedRuns<TenantId, AuditVerdict>;
  readonly pendingSamlRequests: PendingRequests;
  readonly extensionAnswers: ExtensionAnswers;
  readonly streamRetention: StreamRetention;
  /** Chains whose heads are not sealed any more. */
  readonly sealAlarms: SealAlarms;
  /** The same tables on connections that no tenant's lists and searches take: for sign-in, for devices, and for what the service itself needs. */
  vitalReads(tenantId: TenantId): TenantReads;
  readonly limits: Limits;
  /** What probes and monitors are told. */
  readonly state: ServiceState;
  /** True for the address of a proxy whose forwarded client certificate and address are believed. */
  trustsProxy(address: string | undefined): boolean;
  head(): Promise<Position>;
}
