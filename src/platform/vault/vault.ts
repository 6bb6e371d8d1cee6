import type { TenantId } from '../kernel/ids.ts';

/**
 * Secrets at rest. An event or a row carries the reference; the value is sealed under the tenant's data key and bound to
 * tenant, reference, owner and field, so that it opens nowhere else.
 */
export interface Vault {
  /** Keeps a secret and answers its reference. `owner` and `field` say whose and what: `admin/<id>`, `passwordHash`. */
  put(tenantId: TenantId, place: SecretLocation, secret: string | Buffer): Promise<string>;
  /** Undefined when there is no such secret (never was, or forgotten). Throws when it was tampered with. */
  get(tenantId: TenantId, place: SecretLocation, reference: string): Promise<Buffer | undefined>;
  forget(tenantId: TenantId, reference: string): Promise<void>;
}

export interface SecretLocation {
  readonly owner: string;
  readonly field: string;
}

/** The keys under which what is personal in events is sealed: one a person, destroyed when the person is erased. */
export interface PersonKeys {
  /** The key to seal with; made when there is none. Undefined for a person who was erased. */
  forSealing(tenantId: TenantId, personId: string): Promise<Buffer | undefined>;
  /** Keys to open with, by `personKey(tenantId, personId)`; a missing one means erased. */
  forOpening(persons: readonly Person[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Destroys the key for ever. Answers false when the person had been erased before. */
  destroy(tenantId: TenantId, personId: string): Promise<boolean>;
  /** Drops a key from memory: another process has destroyed it. */
  forget(tenantId: TenantId, personId: string): void;
}

export interface Person {
  readonly tenantId: TenantId;
  readonly personId: string;
}

export const personKey = ({ tenantId, personId }: Person): string => `${tenantId}/${personId}`;
