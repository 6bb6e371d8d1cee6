import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

const sources: ReadonlyMap<string, string> = new Map(
  ['src', 'commands', 'queries', 'projections'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => [path.posix.join(folder, name), readFileSync(path.join(ROOT, folder, name), 'utf8')] as const),
  ),
);

/** Who sees everything that the composition root assembles: the root itself, and where processes start. */
const SEES_EVERYTHING = /(?:^|\/)(?:compose\.ts|compose\/[^/]+\.ts|main\.ts|cli\.ts|cli\/application\.ts)$/;

/** Class instances at module level that are constants: addresses, patterns, times, text encoders. */
const CONSTANTS = new Set(['URL', 'RegExp', 'Date', 'TextEncoder', 'TextDecoder']);
/** Instruments of prom-client: a registry holds each name once in a process, and samples are taken from the composition. */
const INSTRUMENTS = new Set(['Registry', 'Gauge', 'Counter', 'Histogram']);

/**
 * Module variables that may change, each with its reason. None holds what one running composition must not share with another.
 * Keyed by file name and variable, so that a file may move.
 */
const MAY_CHANGE: Readonly<Record<string, string>> = {
  'prepared-statement-client.ts layouts': 'row layouts by connection, dropped with it',
  'prepared-statement-client.ts silent': 'a wrapper by connection, dropped with it',
  'statement-name.ts names': 'a pure function of a statement, computed once',
  'keyring.ts nonces': 'random bytes, each handed out once',
  'packed-rows.ts latest': 'the last parsed time: a pure function of its text',
  'read-model.ts latest': 'the last formatted time: a pure function of its number',
  'linear-matcher.ts matchers': 'compiled patterns: a pure function of their text',
  'guessable-password.ts list': 'a constant list, read from disk on first use',
  'launcher.ts setprivKnown': 'whether the operating system has a program',
  'telemetry-quarters.ts quartersOf': 'computed from an immutable batch, dropped with it',
  'sightings.ts known': 'computed from an immutable batch, dropped with it',
  'device-layout.ts layouts': 'certificate templates by issuer, dropped with it',
  'device-identity.ts proven': 'what a TLS connection has proved, dropped with it',
  'device-identity.ts forwarded': 'what a request has proved, dropped with it',
  'device-identity.ts parsed': 'computed from an immutable tenant state, dropped with it',
  'client.ts links': 'the link behind a client object, dropped with it',
  'connection.ts opened': 'numbers the connections of this process for the server’s log',
  'recent-log-lines.ts recentLogLines': 'log lines of this process, which begin before there is a composition',
};

const file = (name: string): string => path.posix.basename(name);

/** Module variables that are reassigned, that begin as empty collections, or that hold an instance of a class. */
function changingIn(source: string): string[] {
  const lets = [...source.matchAll(/^(?:export )?(?:let|var) (\w+)/gm)].map(([, name]) => name!);
  const instances = [...source.matchAll(/^(?:export )?const (\w+)(?:: [^=]+?)? = new (\w+)(?:<[^;]*?>)?\(([^\n]?)/gm)]
    .filter(([whole, , type, first]) => {
      if (CONSTANTS.has(type!) || INSTRUMENTS.has(type!)) return false;
      const isCollection = type === 'Map' || type === 'Set';
      // A filled collection is a constant; one that is declared read-only too.
      return !(isCollection && (first !== ')' || /: Readonly(?:Map|Set)</.test(whole!)));
    })
    .map(([, name]) => name!);
  return [...lets, ...instances];
}

describe('the composition root', () => {
  it('is alone in seeing everything: each part declares the dependencies that it uses', () => {
    const whole = [...sources].find(([, source]) => source.includes('export interface ServiceContainer {'))?.[0];
    expect(whole).toBeDefined();
    const importers = [...sources].filter(([name, source]) =>
      [...source.matchAll(/from '(\.[^']+)'/g)].some(
        ([, target]) => path.posix.join(path.posix.dirname(name), target!) === whole,
      ),
    );
    expect(importers.length).toBeGreaterThan(0);
    expect(importers.map(([name]) => name).filter((name) => !SEES_EVERYTHING.test(name))).toEqual([]);
  });

  it('makes what a process remembers: modules hold no variable state', () => {
    const changing = [...sources].flatMap(([name, source]) =>
      changingIn(source).map((variable) => `${file(name)} ${variable}`),
    );
    expect(changing.filter((variable) => !(variable in MAY_CHANGE))).toEqual([]);
    // An exception that is no longer needed goes.
    expect(Object.keys(MAY_CHANGE).filter((variable) => !changing.includes(variable))).toEqual([]);
  });

  it('would notice module state', () => {
    expect(
      changingIn('let taken = false;\nconst turns = new Turns();\nconst seen = new Map<string, number>();'),
    ).toEqual(['taken', 'turns', 'seen']);
    expect(
      changingIn("const A = new URL('x', y);\nconst B: ReadonlySet<string> = new Set();\nconst C = new Set([1]);"),
    ).toEqual([]);
  });
});
