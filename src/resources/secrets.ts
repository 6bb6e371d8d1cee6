import type { TenantId } from '../kernel/ids.ts';
import type { SecretPlace, Vault } from '../vault/vault.ts';
import { isSecret, type AnyValues, type Fields } from './fields.ts';

/** Where a record's secret is kept: who holds the reference opens it with `vault.get(tenantId, secretPlace(…), reference)`. */
export const secretPlace = (noun: string, id: string, field: string): SecretPlace => ({ owner: `${noun}/${id}`, field });

/** Puts what was said into the vault; answers the references that events carry instead. Null is "none from now on". */
export async function keepSecrets(fields: Fields, said: AnyValues, place: (field: string) => SecretPlace, vault: Vault, tenantId: TenantId) {
  const kept: Record<string, string | null> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = said[name];
    if (!isSecret(field) || value === undefined) continue;
    kept[`${name}Ref`] = value === null ? null : await vault.put(tenantId, place(name), value as string);
  }
  return kept;
}

/** The secrets that nothing refers to once `after` follows `before`: the vault may forget them. */
export const secretsGivenUp = (fields: Fields, before: AnyValues, after: AnyValues): string[] =>
  Object.entries(fields)
    .filter(([, field]) => isSecret(field))
    .map(([name]) => `${name}Ref`)
    .filter((name) => typeof before[name] === 'string' && before[name] !== after[name])
    .map((name) => before[name] as string);
