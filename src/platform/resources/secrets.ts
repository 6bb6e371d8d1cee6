import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { FailureError, secretNeededAgain, type Failure } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { SecretLocation, Vault } from '../vault/vault.ts';
import { isSecret, storedName, valuesOf, type AnyValues, type Fields } from './fields.ts';

/** The vault location of a record's secret. To read it: `vault.get(tenantId, secretLocation(…), reference)`. */
export const secretLocation = (noun: string, id: string, field: string): SecretLocation => ({
  owner: `${noun}/${id}`,
  field,
});

/** Stores the given secrets in the vault. Returns their references, for events. Null removes a secret. */
export async function storeSecrets(
  fields: Fields,
  given: AnyValues,
  place: (field: string) => SecretLocation,
  vault: Vault,
  tenantId: TenantId,
) {
  const kept: Record<string, string | null> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = given[name];
    if (!isSecret(field) || value === undefined) continue;
    kept[`${name}Ref`] = value === null ? null : await vault.put(tenantId, place(name), value as string);
  }
  return kept;
}

/**
 * Refuses to keep a stored secret while its destination address changes. Otherwise a caller who may change the
 * address, but not read the secret, could have it sent to a server of their own.
 */
export function refuseMovedSecret(fields: Fields, before: AnyValues, after: AnyValues): Failure | undefined {
  // The address may be a secret itself: then its reference is compared.
  const isMoved = (address: string) => {
    const stored = fields[address] ? storedName(address, fields[address]) : address;
    return !isDeepStrictEqual(before[stored], after[stored]);
  };
  for (const [name, field] of Object.entries(fields)) {
    if (!isSecret(field)) continue;
    const reference = before[storedName(name, field)] ?? null;
    const isKept = reference !== null && after[storedName(name, field)] === reference;
    const moved = field.sentTo.find(isMoved);
    if (isKept && moved !== undefined) return secretNeededAgain(name, moved);
  }
  return undefined;
}

/** For `forget`: the secrets that `before` refers to and `after` does not. */
export function secretsOnlyIn(fields: Fields, before: AnyValues, after: AnyValues): string[] {
  const references = valuesOf(fields, (field, name) => (isSecret(field) ? before[`${name}Ref`] : undefined));
  return Object.entries(references).flatMap(([name, reference]) =>
    reference !== null && reference !== after[name] ? [reference as string] : [],
  );
}

/** A secret that could not be deleted stays sealed, and nothing refers to it. */
async function deleteSecrets(
  { vault, log }: { readonly vault: Vault; readonly log: Logger },
  tenantId: TenantId,
  references: readonly string[],
): Promise<void> {
  for (const reference of references) {
    await vault
      .forget(tenantId, reference)
      .catch((error: Error) =>
        log.warn({ tenantId, reference, reason: error.message }, 'a secret could not be deleted'),
      );
  }
}

/**
 * For secrets that were stored before a command that refers to them. If the command was refused, deletes them; always
 * rethrows. After any other error the command's events may have been appended, so the secrets stay.
 */
export async function deleteSecretsIfRefused(
  services: Parameters<typeof deleteSecrets>[0],
  tenantId: TenantId,
  references: readonly string[],
  error: unknown,
): Promise<never> {
  if (error instanceof FailureError && error.failure.kind !== 'unavailable')
    await deleteSecrets(services, tenantId, references);
  throw error;
}
