import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fingerprintOf, present, type Basis, type Folding } from '../dsl/fold-histories.ts';

/** Something whose content was folded in installations, and must be folded again if the result would differ. */
export interface Versioned extends Folding {
  readonly name: string;
  readonly version: number;
}

interface Fingerprint {
  readonly version: number;
  readonly hash: string;
}

/** The newest released version of each, and its result for these events. */
export interface Released {
  readonly events: Basis;
  readonly fingerprints: Readonly<Record<string, Fingerprint>>;
}

const UPDATE = process.env['UPDATE_FINGERPRINTS'] === '1';
const NOTHING: Released = { events: {}, fingerprints: {} };

/** The differences, and the fingerprints that may be written: all except changes under an unchanged version. */
export function compare(
  all: readonly Versioned[],
  released: Released,
  command: string,
): { changed: string[]; outdated: string[]; next: Released } {
  const changed: string[] = [];
  const outdated: string[] = [];
  const next: Record<string, Fingerprint> = {};
  const isPresent = JSON.stringify(released.events) === JSON.stringify(present);
  for (const one of all.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name, version } = one;
    const then = released.fingerprints[name];
    const hash = fingerprintOf(one, present);
    next[name] = { version, hash };
    if (!then || version > then.version) outdated.push(`${name} is new, or has a new version: run ${command}`);
    else if (version < then.version)
      changed.push(`${name} went back from version ${then.version} to ${version}: versions only rise`);
    else if ((isPresent ? hash : fingerprintOf(one, released.events)) !== then.hash)
      changed.push(
        `${name} folds differently but is still version ${version}: what was folded before would keep the old content. ` +
          `Give it version ${version + 1}, then run ${command}`,
      );
  }
  // New events: nothing was folded from them before.
  if (!isPresent) outdated.push(`there are new events or versions of events: run ${command}`);
  return { changed, outdated, next: { events: present, fingerprints: next } };
}

/**
 * Every difference in words. With UPDATE_FINGERPRINTS=1 it writes the file instead, unless something changed under its
 * old version.
 */
export function whatIsWrong(all: readonly Versioned[], file: URL, command: string): string[] {
  const released = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Released) : NOTHING;
  const { changed, outdated, next } = compare(all, released, command);
  if (!UPDATE) return [...changed, ...outdated];
  if (changed.length === 0) writeFileSync(file, `${JSON.stringify(next, null, 2)}\n`);
  return changed;
}
