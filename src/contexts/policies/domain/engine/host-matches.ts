import { linearMatcher } from '../../../../platform/patterns/linear-matcher.ts';
import type { Rule } from '../events.ts';

/**
 * Choice OP-108: `exact` matches the whole host, `*.example.com` everything below `example.com` but not itself, `*` all
 * hosts; `regex` matches from end to end.
 */
export function hostMatches({ type, value }: Rule['domainMatch'], host: string): boolean {
  switch (type) {
    case 'exact':
      return host === value;
    case 'wildcard':
      return value === '*' || host.endsWith(value.slice(1));
    case 'regex':
      return linearMatcher(value)(host);
  }
}
