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
  /** Epoch milliseconds until which it would be accepted again, if its id were not remembered. */
  readonly endsAt: number;
  readonly subject: Subject;
}

/**
 * Everything that makes a response believable, save what has to be remembered: that its request was made and is open,
 * and that its assertion was not used before. `guarded` comes from `guardDocument`. The tenant is whose turns it takes. Throws `SamlRefused`.
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
  // Two readings, of the document and of the signed bytes, have to name the same person.
  if (subject.nameId !== subjectOf(guarded.assertion).nameId) refuseSaml('signature', 'two readings differ');
  return { assertionId: attribute(assertion, 'ID')!, endsAt, subject };
}
