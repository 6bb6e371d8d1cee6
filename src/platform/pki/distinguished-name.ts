import { DerError, SequenceReader, TAG, elements } from './der-reader.ts';
import type { Element } from './der-reader.ts';
import { readObjectIdentifier, readText } from './der-values.ts';
import { sequence, setOf, utf8 } from './der.ts';
import type { Node } from './der.ts';
import { OID } from './object-identifiers.ts';
import type { ObjectIdentifier } from './object-identifiers.ts';

/** ub-common-name and ub-organization-name of RFC 5280, appendix A. */
const LONGEST_ATTRIBUTE = 64;

const attribute = (type: ObjectIdentifier, text: string): Node => setOf(sequence(type.node, utf8(text)));

/**
 * `O=…, CN=…`; without an organization, only `CN=…`. The texts are for people, so one that is too long is truncated.
 */
export function distinguishedName({
  commonName,
  organization = '',
}: {
  commonName: string;
  organization?: string;
}): Node {
  const [common, owner] = [commonName, organization].map((text) => [...text].slice(0, LONGEST_ATTRIBUTE).join(''));
  if (!common) throw new TypeError('a name needs a commonName');
  return sequence(...(owner ? [attribute(OID.organization, owner)] : []), attribute(OID.commonName, common));
}

/**
 * Attribute texts by the hex of their type. Throws DerError if a type occurs twice, because that would be ambiguous.
 */
export function readDistinguishedName(name: Element): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const relative of elements(name.content)) {
    if (relative.tag !== TAG.set) throw new DerError('relative name');
    for (const pair of elements(relative.content)) {
      const fields = new SequenceReader(pair);
      const type = readObjectIdentifier(fields.take(TAG.objectIdentifier));
      if (attributes.has(type)) throw new DerError('repeated attribute');
      attributes.set(type, readText(fields.takeAny()));
      fields.end();
    }
  }
  return attributes;
}
