import { checkAssertion, checkResponse, type Expected } from './assertion-conditions.ts';
import { guardDocument, type GuardedResponse } from './document-guard.ts';
import { instantIn } from './instant.ts';
import { refuseSaml } from './refused.ts';
import { signedElement } from './signed-bytes.ts';
import { subjectOf, type Subject } from './subject.ts';
import { attribute, isNamed, onlyChild, SAML, SAMLP, type XmlElement } from './xml.ts';

export interface ReadResponse {
  /** The whole document, for schema validation. */
  readonly xml: string;
  /** Unique at its issuer. */
  readonly assertionId: string;
  /** Epoch milliseconds until which the assertion would be accepted again if its id were not stored. */
  readonly endsAt: number;
  /** By the provider's clock, in epoch milliseconds. */
  readonly issuedAt: number;
  /** Epoch milliseconds until which the session at the provider lasts, if it says so (Core §2.7.2). */
  readonly until: number | undefined;
  readonly subject: Subject;
}

/**
 * Performs every check of a response that needs neither stored state nor the schema. What it returns was read from
 * signed bytes. Pure, but slow enough for a thread (`response-thread.ts`). Throws `SamlRefused`.
 */
export function readResponse(base64: string, expected: Expected, certificatesPem: readonly string[]): ReadResponse {
  const guarded = guardDocument(base64);
  checkResponse(guarded.response, expected, guarded.responseSignature !== undefined);
  const assertion = signedAssertion(guarded, expected, certificatesPem);
  const { endsAt, until } = checkAssertion(assertion, expected);
  const subject = subjectOf(assertion);
  // The document and the signed bytes, parsed separately, have to name the same person.
  if (subject.nameId !== subjectOf(guarded.assertion).nameId)
    refuseSaml('signature', 'the signed subject differs from the document');
  const issuedAt = instantIn(assertion, 'IssueInstant');
  return { xml: guarded.xml, assertionId: attribute(assertion, 'ID')!, endsAt, issuedAt, until, subject };
}

/**
 * The assertion as it was signed, so that unsigned data is never read. Every signature in the document has to be right.
 * A signature of the response covers the assertion in it (Core §5.3).
 */
function signedAssertion(
  { xml, assertion, responseSignature, assertionSignature }: GuardedResponse,
  expected: Expected,
  certificatesPem: readonly string[],
): XmlElement {
  const inResponse = responseSignature && assertionOf(signedElement(xml, responseSignature, certificatesPem), expected);
  const alone = assertionSignature && signedElement(xml, assertionSignature, certificatesPem);
  const signed = alone ?? inResponse ?? refuseSaml('signature', 'nothing is signed');
  if (!isNamed(signed, SAML, 'Assertion') || attribute(signed, 'ID') !== attribute(assertion, 'ID'))
    refuseSaml('signature', 'another element was signed');
  return signed;
}

/** The signed response has to say what the document says. */
function assertionOf(response: XmlElement, expected: Expected): XmlElement {
  if (!isNamed(response, SAMLP, 'Response')) refuseSaml('signature', 'another element was signed');
  checkResponse(response, expected, true);
  return onlyChild(response, SAML, 'Assertion') ?? refuseSaml('signature', 'the assertion was not signed');
}
