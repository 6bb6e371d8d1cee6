import type { KeyObject } from 'node:crypto';
import type { NotifiedEvent } from '../src/contexts/notifications/domain/alert-change.ts';
import type { NotificationSettings } from '../src/contexts/notifications/domain/settings.ts';
import type { ChannelName } from '../src/contexts/notifications/domain/message.ts';
import type { AggregateReader, BulkAggregateReader } from '../src/platform/kernel/aggregate.ts';
import type { Claim } from '../src/platform/kernel/command.ts';
import type { TenantId } from '../src/platform/kernel/ids.ts';
import type { FreeNumbers } from '../src/platform/numbers/number-finder.ts';
import type { Destinations } from '../src/platform/outbound/destinations.ts';
import type { Authority } from '../src/platform/pki/authority.ts';
import type { CertificateService } from '../src/platform/pki/certificate-service.ts';
import type { PersonKeys, Vault } from '../src/platform/vault/vault.ts';
import type { ScreenshotPorts } from './screenshots/take-screenshot.ts';
import type { VerificationPorts } from './verification/verify-employee.ts';

// What a command's `prepare` may use: the write side, slow work and external systems, but never a read model. A command
// names the ports that it uses (`WithVault & WithPasswords`). The executor accepts a command only if it has them all.

export interface WithAggregates {
  readonly aggregates: AggregateReader;
}

/** For commands that look at many streams. */
export interface WithBulkAggregates {
  readonly aggregates: BulkAggregateReader;
}

export interface WithVault {
  readonly vault: Vault;
}

export interface WithDestinations {
  /** Addresses that administrators choose. */
  readonly destinations: Destinations;
}

export interface WithPersonKeys {
  readonly personKeys: PersonKeys;
}

/** The part of password hashing that commands need. */
export interface PasswordHashing {
  hash(password: string): Promise<string>;
  verify(hash: string, password: string): Promise<boolean>;
}

export interface WithPasswords {
  readonly passwords: PasswordHashing;
}

export interface WithLicensePublicKey {
  readonly licensePublicKey: KeyObject;
}

export interface WithAccountDigest {
  /** Keyed digest of a case-folded e-mail address: identifies an account without revealing the address. */
  accountDigest(email: string): string;
}

export interface WithPushTokenDigest {
  /** Keyed digest that recognizes a tenant's push token without revealing it. */
  pushTokenDigest(tenantId: TenantId, token: string): string;
}

export interface WithNewAuthority {
  /** Creates a certificate authority for a tenant of this name. */
  newAuthority(name: string, now: number): Authority;
}

export interface WithCertificates {
  readonly certificates: CertificateService;
}

export interface WithClaimHolder {
  /** Returns the stream that holds the claim. */
  claimHolder(tenantId: TenantId, claim: Claim): Promise<string | undefined>;
}

export interface WithClaimHolders {
  /** As `claimHolder`, for many claims; results are in input order. */
  claimHolders(tenantId: TenantId, claims: readonly Claim[]): Promise<readonly (string | undefined)[]>;
}

export interface WithFreeNumbers {
  /** Seats and slots that no stream holds. */
  readonly freeNumbers: FreeNumbers;
}

export interface WithOutbox {
  readonly outbox: {
    /**
     * This process would begin an attempt at once. It then reads what the message needs, while the plan is appended.
     */
    mayBegin(tenantId: TenantId, channel: ChannelName, about: NotifiedEvent): boolean;
    /** As of every event that this process knows. */
    settings(tenantId: TenantId): Promise<NotificationSettings>;
  };
}

/** The ports of all commands together. The executor is built with them. */
export type CommandPorts = WithAggregates &
  WithBulkAggregates &
  WithVault &
  WithDestinations &
  WithPersonKeys &
  WithPasswords &
  WithLicensePublicKey &
  WithAccountDigest &
  WithPushTokenDigest &
  WithNewAuthority &
  WithCertificates &
  WithClaimHolder &
  WithClaimHolders &
  WithFreeNumbers &
  WithOutbox &
  ScreenshotPorts &
  VerificationPorts;
