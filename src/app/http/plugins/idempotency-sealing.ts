import { createHmac } from 'node:crypto';
import { conflict, FailureError } from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { decrypt, encrypt } from '../../../platform/vault/keyring.ts';

export interface IdempotencyKeys {
  /** Bodies and seeds are sealed with the first key, and opened with any. */
  readonly sealing: readonly [Buffer, ...Buffer[]];
  /** For digests of keys and requests. It survives a rotation of the master key, because digests are compared. */
  readonly digesting: Buffer;
}

interface KeyOwner {
  readonly tenantId: TenantId;
  readonly subjectId: string;
}

/** Digests and sealed values of stored requests, bound to the tenant and the administrator. */
export class IdempotencySealing {
  readonly #keys: IdempotencyKeys;

  constructor(keys: IdempotencyKeys) {
    this.#keys = keys;
  }

  /** A keyed digest, because a body may hold a password: without the key, candidates cannot be tested against it. */
  digest(purpose: string, { tenantId, subjectId }: KeyOwner, parts: readonly (string | Buffer)[]): Buffer {
    const hmac = createHmac('sha256', this.#keys.digesting).update(`${purpose}|${tenantId}|${subjectId}`);
    for (const part of parts) {
      const bytes = Buffer.from(part);
      hmac.update(`|${bytes.length}|`).update(bytes);
    }
    return hmac.digest();
  }

  seal(plain: Buffer, place: string, { tenantId, subjectId }: KeyOwner): Buffer {
    return encrypt(this.#keys.sealing[0], plain, `${tenantId}|${subjectId}|${place}`);
  }

  /**
   * Throws 409 if the master key was retired since: the request is not run again, and its response cannot be opened.
   */
  open(sealed: Buffer, place: string, { tenantId, subjectId }: KeyOwner): Buffer {
    for (const key of this.#keys.sealing) {
      try {
        return decrypt(key, sealed, `${tenantId}|${subjectId}|${place}`);
      } catch {
        // Sealed with another key: try the next one.
      }
    }
    throw new FailureError(conflict('idempotent_response_lost'));
  }
}
