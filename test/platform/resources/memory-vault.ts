import { randomUUID } from 'node:crypto';
import type { Vault } from '../../../src/platform/vault/vault.ts';

/** The vault's contract without cryptography. */
export function memoryVault(): Vault & {
  readonly kept: Map<string, { owner: string; field: string; secret: string }>;
} {
  const kept = new Map<string, { owner: string; field: string; secret: string }>();
  return {
    kept,
    put: async (_tenantId, place, secret) => {
      const reference = randomUUID();
      kept.set(reference, { ...place, secret: secret.toString() });
      return reference;
    },
    get: async (_tenantId, { owner, field }, reference) => {
      const found = kept.get(reference);
      return found?.owner === owner && found.field === field ? Buffer.from(found.secret) : undefined;
    },
    forget: async (_tenantId, reference) => void kept.delete(reference),
  };
}
