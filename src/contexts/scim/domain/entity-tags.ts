import { createHash } from 'node:crypto';

/**
 * A weak entity tag (RFC 7644 §3.14): the version of what clients change, and, after a dot, a digest of what is shown from
 * other resources: the groups of a user, the names of members. The same state, whatever else is shown of it.
 */
export const versionTag = (version: number, shownOfOthers: readonly string[] = []): string =>
  `W/"${version}${shownOfOthers.length === 0 ? '' : `.${digestOf(shownOfOthers)}`}"`;

function digestOf(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('base64url').slice(0, 11);
}

/** The tags of a header, without `W/`. */
export const tagsIn = (header: string): string[] => header.split(',').map((tag) => tag.trim().replace(/^w\//i, ''));

/** Whether a header names this version, whatever was shown of other resources with it. */
export const namesVersion = (header: string, version: number): boolean =>
  tagsIn(header).some((tag) => tag.replace(/\.[^"]*/, '') === `"${version}"`);
