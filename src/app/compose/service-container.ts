import type { Logger } from 'pino';
import type { ArrivalBudgets } from '../../platform/arrivals/arrival-budgets.ts';
import type { ObservationAllowance } from '../../contexts/telemetry/observation-allowance.ts';
import type { TechnologyAllowance } from '../../contexts/discovery/technology-allowance.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { EventFamily, Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { AnyReadModel } from '../../platform/kernel/read-model.ts';
import type { ReadModelName } from '../../platform/kernel/read-model-name.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import type { SealAlarms } from '../../contexts/audit/seal-alarms.ts';
import type { SharedRuns } from '../../contexts/audit/shared-runs.ts';
import type { SegmentVerification } from '../../contexts/audit/chain-segments.ts';
import type { AuditVerdict } from '../../contexts/audit/verify.ts';
import type { Settings } from '../config/config.ts';
import type { ProofKey } from '../../contexts/audit/proof-key.ts';
import type { ChainKey } from '../../contexts/audit/domain/chain-key.ts';
import type { ExtensionResponses } from '../../contexts/policies/extension-responses.ts';
import type { RolloutDirections } from '../../contexts/extension-rollouts/rollout-directions.ts';
import type { StreamRetention } from '../../contexts/telemetry/telemetry-retention.ts';
import type { OidcSessions } from '../../contexts/sso/oidc-sessions.ts';
import type { ProviderSessions } from '../../contexts/sso/saml/provider-sessions.ts';
import type { ResponseChecks } from '../../contexts/sso/saml/accept-response.ts';
import type { PendingRequests } from '../../contexts/sso/saml/pending-requests.ts';
import type { Database } from '../../platform/database/database.ts';
import type { EventCodec } from '../../platform/eventstore/codec.ts';
import type { ReferenceLocks } from '../../platform/kernel/reference-locks.ts';
import type { LogTrust } from '../../platform/eventstore/log-trust.ts';
import type { LogDoubts } from '../../contexts/installation/log-doubts.ts';
import type { UnfinishedRestore } from '../../contexts/installation/restore/unfinished-restore.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { AccessTokens } from '../../contexts/identity/access-tokens.ts';
import type { InstallationIdentity } from '../../contexts/installation/installation-identity.ts';
import type { KnownBrowsers } from '../../contexts/identity/known-browsers.ts';
import type { OneTimeTokens } from '../../contexts/identity/one-time-tokens.ts';
import type { Passwords } from '../../contexts/identity/passwords.ts';
import type { ReturnedTokens } from '../../contexts/enrollment/returned-tokens.ts';
import type { RefreshTokens } from '../../contexts/identity/refresh-tokens.ts';
import type { VerificationCodes } from '../../contexts/identity/verification-codes.ts';
import type { ReadyPersonIds } from '../../contexts/employees/ready-person-ids.ts';
import type { SameCreations } from '../../contexts/employees/same-creations.ts';
import type { ScimTokens } from '../../contexts/scim/access-tokens.ts';
import type { RecordedSsoRefusals } from '../../contexts/sso/recorded-refusals.ts';
import type { RefusedScimClients } from '../../contexts/scim/refused-scim-clients.ts';
import type { Lookups } from '../../contexts/identity/lookups.ts';
import type { Limits } from '../config/limits.ts';
import type { CatchUpSubscription } from '../../platform/projector/catch-up-subscription.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { InvalidatingCache } from '../../platform/projector/invalidating-cache.ts';
import type { Projector } from '../../platform/projector/projector.ts';
import type { ServiceState } from '../operations/service-state.ts';
import type { BundleSigner } from '../../contexts/policies/bundle-signer.ts';
import type { ListenerCertificate } from '../../contexts/certificates/listener-certificate.ts';
import type { TxtRecords } from '../../platform/outbound/txt-records.ts';
import type { Portal } from '../../contexts/alerts/portal.ts';
import type { Pictures } from '../../contexts/screenshots/pictures.ts';
import type { CalendarAddresses } from '../../contexts/on-call/calendar-addresses.ts';
import type { ShiftCalendars } from '../../contexts/on-call/domain/shift-calendars.ts';
import type { SignedAddresses } from '../../contexts/screenshots/signed-addresses.ts';
import type { DestinationSinks } from '../../contexts/log-destinations/forwarding/destination-sinks.ts';
import type { LiveNotificationSettings } from '../../contexts/notifications/live-settings.ts';
import type { Forwarder } from '../../contexts/log-destinations/forwarding/forwarder.ts';
import type { RefusedRecords } from '../../contexts/log-destinations/refused-records.ts';
import type { DirectoryReaders } from '../../contexts/directory-sources/open-reader.ts';
import type { DeliverySender } from '../../contexts/notifications/delivery-sender.ts';
import type { BundleStore } from '../../contexts/updates/bundle-store.ts';
import type { UpdateAnnouncements } from '../../contexts/updates/update-announcements.ts';
import type { UpdateDownloads } from '../../contexts/updates/update-downloads.ts';
import type { UpdateRuns } from '../../contexts/updates/update-runs.ts';
import type { DomainScans } from '../../contexts/threat-intel/domain-scans.ts';
import type { PersonKeys, Vault } from '../../platform/vault/vault.ts';

/** The dependency container that the composition root builds, for HTTP handlers, the CLI and the demo. */
export interface ServiceContainer {
  /** Without the installation's keys and credentials, so that no request handler can reach them. */
  readonly config: Settings;
  readonly log: Logger;
  readonly database: Database;
  readonly store: EventStore;
  /** Whether the event log is the one that this process knows. While it is not, `store` refuses to write. */
  readonly trust: LogTrust;
  /** The installation that the log and tables belong to. */
  readonly installation: InstallationIdentity;
  /** What this process and others say of a log that they refuse. */
  readonly logDoubts: LogDoubts;
  readonly unfinishedRestore: UnfinishedRestore;
  readonly codec: EventCodec;
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
  readonly referenceLocks: ReferenceLocks;
  readonly ports: CommandPorts & { readonly arrivals: ArrivalBudgets; readonly verificationCodes: VerificationCodes };
  readonly subscription: CatchUpSubscription;
  readonly freshness: Freshness;
  readonly projector: Projector;
  readonly jobs: Jobs;
  readonly vault: Vault;
  readonly personKeys: PersonKeys;
  readonly portal: Portal;
  /** Screenshots from browsers. */
  readonly pictures: Pictures;
  readonly screenshotAddresses: SignedAddresses;
  readonly calendarAddresses: CalendarAddresses;
  /** Handoffs of on-call schedules, computed ahead. */
  readonly shiftCalendars: ShiftCalendars;
  readonly domainScans: DomainScans;
  /** Updates of this installation's software. */
  readonly updateBundles: BundleStore;
  readonly updateAnnouncements: UpdateAnnouncements;
  readonly updateRuns: UpdateRuns;
  readonly updateDownloads: UpdateDownloads;
  readonly directoryReaders: DirectoryReaders;
  /** Makes attempts at messages to the outside. */
  readonly deliverySender: DeliverySender;
  readonly destinationSinks: DestinationSinks;
  readonly refusedRecords: RefusedRecords;
  readonly forwarder: Forwarder;
  readonly notificationSettings: LiveNotificationSettings;
  /** How much a device may still report, by arrival time. */
  readonly observations: ObservationAllowance;
  readonly technologies: TechnologyAllowance;
  readonly bundleSigner: BundleSigner;
  /** The server certificate of this process's TLS listener. */
  listenerCertificate(): ListenerCertificate;
  readonly passwords: Passwords;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly knownBrowsers: KnownBrowsers;
  readonly oneTimeTokens: OneTimeTokens;
  readonly lookups: Lookups;
  /** For people who are provisioned in quick succession. */
  readonly readyPersonIds: ReadyPersonIds;
  readonly sameCreations: SameCreations;
  /** Access tokens of identity providers. */
  readonly scimTokens: ScimTokens;
  readonly refusedScimClients: RefusedScimClients;
  readonly ssoRefusals: RecordedSsoRefusals;
  /** For look-ups of other modules that events invalidate. */
  readonly cache: InvalidatingCache;
  /** Every read model that this installation maintains. */
  readonly models: readonly AnyReadModel[];
  /** Names of the read models in the main lane. A later read with `X-Log-Position` waits for them. */
  readonly mainModels: readonly ReadModelName[];
  accountDigest(email: string): string;
  /** The value that a domain must publish: a digest keyed with the installation's key. */
  domainChallenge(of: string): string;
  readonly txtRecords: TxtRecords;
  /** The tenant's salt for password digests that extensions compute (choice OP-155). */
  credentialSalt(tenantId: TenantId): string;
  /** Every event family: the event catalogue, and the source of the audit log's vocabulary. */
  readonly families: readonly EventFamily[];
  reads(tenantId: TenantId): TenantReads;
  /** Verifies audit chains without exposing the key. */
  readonly chainKey: ChainKey;
  /** Signs proofs of audit logs. */
  readonly proofKey: ProofKey;
  readonly chainWalking: SegmentVerification | undefined;
  readonly verifications: SharedRuns<TenantId, AuditVerdict>;
  readonly pendingSamlRequests: PendingRequests;
  readonly returnedTokens: ReturnedTokens;
  readonly oidcSessions: OidcSessions;
  readonly samlSessions: ProviderSessions;
  readonly samlResponses: ResponseChecks;
  readonly extensionResponses: ExtensionResponses;
  readonly rolloutDirections: RolloutDirections;
  readonly streamRetention: StreamRetention;
  /** Chains whose heads are no longer sealed. */
  readonly sealAlarms: SealAlarms;
  /** As `reads`, on connections that are reserved for sign-in, devices and the service itself: no list or search uses them. */
  vitalReads(tenantId: TenantId): TenantReads;
  readonly limits: Limits;
  /** Health and readiness, for probes and monitors. */
  readonly state: ServiceState;
  /** True for the address of a proxy whose forwarded client address and certificate are trusted. */
  trustsProxy(address: string | undefined): boolean;
  head(): Promise<Position>;
}
