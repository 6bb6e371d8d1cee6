import type { TenantId } from '../kernel/ids.ts';

/**
 * Secrets at rest. An event or a row carries the reference. The value is sealed under the tenant's data key and bound
 * to tenant, reference, owner and field, so that it decrypts nowhere else.
 */
export interface Vault {
  /** Stores a secret and returns its reference. `owner` and `field` name its place: `admin/<id>`, `passwordHash`. */
  put(tenantId: TenantId, place: SecretLocation, secret: string | Buffer): Promise<string>;
  /** Returns undefined if the secret never existed or was forgotten. Throws if it was tampered with. */
  get(tenantId: TenantId, place: SecretLocation, reference: string): Promise<Buffer | undefined>;
  forget(tenantId: TenantId, reference: string): Promise<void>;
}

export interface SecretLocation {
  readonly owner: string;
  readonly field: string;
}

/** The keys that seal personal data in events: one per person, destroyed when the person is erased. */
export interface PersonKeys {
  /** Returns the key to seal with, creating it if needed. Undefined for an erased person. */
  forSealing(tenantId: TenantId, personId: string): Promise<Buffer | undefined>;
  /** The same for many persons, by `personId`. An erased person is missing. */
  forSealingAll(tenantId: TenantId, personIds: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Keys to decrypt with, by `personKey(tenantId, personId)`; a missing key means an erased person. */
  forOpening(persons: readonly Person[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Destroys the key permanently. Returns false if the person was erased before. */
  destroy(tenantId: TenantId, personId: string): Promise<boolean>;
  /** Drops a key from memory, after another process destroyed it. */
  forget(tenantId: TenantId, personId: string): void;
}

export interface Person {
  readonly tenantId: TenantId;
  readonly personId: string;
}

export const personKey = ({ tenantId, personId }: Person): string => `${tenantId}/${personId}`;
