import { gt, rcompare, valid } from 'semver';

const LONGEST = 64;

/** A version by Semantic Versioning 2.0.0 in its one spelling, without a leading `v`; undefined for any other text. */
export function softwareVersion(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed.length > LONGEST ? undefined : (valid(trimmed) ?? undefined);
}

/** True if `version` follows all of `others` (null: unknown, so nothing follows from it). Build metadata does not count. */
export const isNewerThan = (version: string, ...others: readonly (string | null)[]): boolean =>
  others.every((other) => other === null || gt(version, other));

/**
 * Orders versions that devices reported, newest first. Texts that are no versions come last: an extension may report
 * anything.
 */
export function newestFirst(one: string, other: string): number {
  const [left, right] = [softwareVersion(one), softwareVersion(other)];
  if (left !== undefined && right !== undefined) return rcompare(left, right) || compareTexts(one, other);
  if (left === undefined && right === undefined) return compareTexts(one, other);
  return left === undefined ? 1 : -1;
}

const compareTexts = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

/** The version in a file name such as `castellan-1.4.0.tgz`; folders before it do not count. */
export function versionInFileName(name: string): string | undefined {
  const base = name.split(/[/\\]/).at(-1)!.slice(0, 256);
  const found = /(?:^|[-_v])(\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9a-z]+(?:\.[0-9a-z]+)*?)?)(?=\.[a-z]|$)/i.exec(base)?.[1];
  return found === undefined ? undefined : softwareVersion(found);
}
