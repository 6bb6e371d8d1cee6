import { patternFault } from '../../../platform/patterns/linear-pattern.ts';
import { domainMatchOf } from '../../policies/domain/domain-match.ts';
import type { signatureTypes, patternTypes } from './vocabulary.ts';

export interface SignaturePattern {
  readonly type: (typeof signatureTypes)[number];
  readonly patternType: (typeof patternTypes)[number];
  readonly pattern: string;
}

/**
 * The normalized pattern of a signature, or what is wrong with it. Domains are parsed as in policies; elsewhere `*` in
 * a wildcard matches any text. Regular expressions are linear in time on server and client.
 */
export function readPattern({
  type,
  patternType,
  pattern,
}: SignaturePattern): { readonly pattern: string } | { readonly fault: string } {
  if (type === 'domain') {
    const read = domainMatchOf({ type: patternType, value: pattern });
    if ('fault' in read) return read;
    return read.value === '*' ? TOO_WIDE : { pattern: read.value };
  }
  if (patternType === 'regex') {
    const fault = patternFault(pattern);
    return fault === undefined ? { pattern } : { fault };
  }
  return patternType === 'wildcard' && /^[*\s]*$/.test(pattern) ? TOO_WIDE : { pattern };
}

/** A pattern that matches everything would turn every page into an alert. */
const TOO_WIDE = { fault: 'must name something besides *' };
