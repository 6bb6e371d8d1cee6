import type { TenantId } from '../../../platform/kernel/ids.ts';
import { checkAssertion, checkResponse, type Expected } from './assertion-conditions.ts';
import type { GuardedResponse } from './document-guard.ts';
import { refuseSaml } from './refused.ts';
import { validateSchema } from './schema-validation.ts';
import { subjectOf, type Subject } from './subject.ts';
import { verifiedAssertion } from './verified-assertion.ts';
import { attribute } from './xml.ts';

export interface AcceptedAssertion {
  /** Unique at its issuer. */
  readonly assertionId: string;
  /** Epoch milliseconds until which the assertion would be accepted again if its id were not stored. */
  readonly endsAt: number;
  readonly subject: Subject;
}

/**
 * Performs every check of a response that needs no stored state. The caller checks that its request is open and that
 * its assertion was not used before.
 *
 * `guarded` comes from `guardDocument`. The tenant determines the queue for schema validation. Throws `SamlRefused`.
 */
export async function acceptResponse(
  tenantId: TenantId,
  guarded: GuardedResponse,
  expected: Expected,
  certificatesPem: readonly string[],
): Promise<AcceptedAssertion> {
  checkResponse(guarded, expected);
  await validateSchema(tenantId, guarded.xml);
  const assertion = verifiedAssertion(guarded, certificatesPem);
  const { endsAt } = checkAssertion(assertion, expected);
  const subject = subjectOf(assertion);
  // The document and the signed bytes, parsed separately, have to name the same person.
  if (subject.nameId !== subjectOf(guarded.assertion).nameId)
    refuseSaml('signature', 'the signed subject differs from the document');
  return { assertionId: attribute(assertion, 'ID')!, endsAt, subject };
}
