import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Expected } from './assertion-conditions.ts';
import type { ReadResponse } from './read-response.ts';
import type { SchemaValidation } from './schema-validation.ts';
import type { ResponseClaims } from './unverified-claims.ts';

export type AcceptedAssertion = Omit<ReadResponse, 'xml'>;

export interface ResponseReader {
  /** As `readResponse`, in the tenant's turn. */
  read(
    tenantId: TenantId,
    base64: string,
    expected: Expected,
    certificatesPem: readonly string[],
  ): Promise<ReadResponse>;
  /** As `claimsOf`: what an unverified response says. */
  claims(base64: string): Promise<ResponseClaims>;
}

export interface ResponseChecks {
  readonly reader: ResponseReader;
  readonly schema: Pick<SchemaValidation, 'validate'>;
}

/**
 * Performs every check of a response that needs no stored state. The caller checks that its request is open and that
 * its assertion was not used before.
 *
 * The signature comes first: the schema costs ten times as much, and only the provider can have it checked. Throws
 * `SamlRefused` and `TooBusy`.
 */
export async function acceptResponse(
  { reader, schema }: ResponseChecks,
  tenantId: TenantId,
  base64: string,
  expected: Expected,
  certificatesPem: readonly string[],
): Promise<AcceptedAssertion> {
  const { xml, ...accepted } = await reader.read(tenantId, base64, expected, certificatesPem);
  await schema.validate(tenantId, xml);
  return accepted;
}
