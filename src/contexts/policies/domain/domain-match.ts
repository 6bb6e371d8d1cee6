import { z } from 'zod';
import { exactHost } from '../../../platform/web-addresses/host-field.ts';
import { patternFault } from '../../../platform/patterns/linear-pattern.ts';
import { matchTypes, type Rule } from './events.ts';

type DomainMatch = Rule['domainMatch'];

/**
 * Matches a host in lower case and punycode (choice OP-108). `exact` matches the whole host. `*.example.com` matches
 * everything below `example.com` but not itself; `*` matches all. A `regex` must match from end to end.
 */
export const domainMatchField = z
  .object({ type: z.enum(matchTypes), value: z.string().min(1).max(512) })
  .transform((match, context) => {
    const read = domainMatchOf(match);
    if (!('fault' in read)) return read;
    context.addIssue({ code: 'custom', path: ['value'], message: read.fault });
    return z.NEVER;
  });

/** The normalized match as it is stored, or what is wrong with it. */
export function domainMatchOf({ type, value }: DomainMatch): DomainMatch | { readonly fault: string } {
  switch (type) {
    case 'exact': {
      const host = exactHost(value);
      return host === undefined ? { fault: 'must be a host name' } : { type, value: host };
    }
    case 'wildcard': {
      const [, below] = /^\*\.(.+)$/.exec(value.trim()) ?? [];
      const host = below === undefined ? undefined : exactHost(below);
      if (value.trim() === '*') return { type, value: '*' };
      return host === undefined ? { fault: 'must be * or *. and a host name' } : { type, value: `*.${host}` };
    }
    case 'regex': {
      const fault = patternFault(value);
      return fault === undefined ? { type, value } : { fault };
    }
  }
}
