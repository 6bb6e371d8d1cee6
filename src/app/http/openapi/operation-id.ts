import type { AnyRoute } from '../route.ts';

/**
 * Short names of operations (OP-430), which generated clients call: `listAlerts` (decision 0092). The verb is the
 * first word of the summary, the nouns are the words of the path: `POST /admin/policies`, "Create a policy" becomes
 * `createPolicy`. A route whose name reads badly declares `operation`.
 */
export function operationIdOf({ operation, summary, path }: Pick<AnyRoute<never>, 'operation' | 'summary' | 'path'>) {
  return operation ?? named(summary, path);
}

/** Prefixes of the path, and the noun that they contribute. */
const INTERFACES: readonly (readonly [string, string])[] = [
  ['/api/v1/admin/', ''],
  ['/api/v1/auth/', ''],
  ['/api/v1/org/auth/', 'Org'],
  ['/api/v1/org/', 'Org'],
  ['/api/v1/ext/', 'Device'],
  ['/api/v1/', ''],
  ['/scim/v2/', 'Scim'],
  ['/', ''],
];

function named(summary: string, path: string): string {
  const [verb = '', article = '', noun = ''] = summary.toLowerCase().split(' ');
  const [prefix, owner] = INTERFACES.find(([start]) => path.startsWith(start))!;
  const segments = path.slice(prefix.length).split('/');
  const last = segments.at(-1)!;
  // `/alerts/{alertID}/resolve`: the verb stands in front already.
  const isVerbAgain = segments.length > 1 && last.startsWith(verb);
  const nouns = isVerbAgain ? segments.slice(0, -1) : segments;
  // Only the last noun can be plural, and "a policy" is one. "A tenant's policies" are several.
  const isOne = (at: number) => at < nouns.length - 1 || (/^an?$/.test(article) && !noun.endsWith("'s"));
  const words = nouns.flatMap((segment, at) =>
    segment.startsWith('{') ? [] : [pascalCase(isOne(at) ? singular(segment) : segment)],
  );
  return verb + owner + words.join('') + (isVerbAgain ? pascalCase(last.slice(verb.length)) : '');
}

/** `settings` and `stats` have no singular. */
export const singular = (noun: string): string =>
  /(?:settings|stats|status|address|tls)$/i.test(noun)
    ? noun
    : noun
        .replace(/(?<![Cc]ook|[aeiou])ies$/, 'y')
        .replace(/(?<=ss|sh|ch|x)es$/, '')
        .replace(/(?<![su])s$/, '');

export const pascalCase = (words: string): string =>
  words.replaceAll(/(?:^|[^A-Za-z0-9]+)(\w)/g, (_, letter: string) => letter.toUpperCase());
