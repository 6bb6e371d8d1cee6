import { ConfigError } from '../../platform/config-error.ts';
import { fileText, whyUnread } from '../../platform/file-content.ts';

export type GivenSettings = Readonly<Record<string, string | undefined>>;

/** Secrets of containers are mounted as files: each secret setting may name its file instead. */
export const fileSetting = (secret: string): string => `${secret}_FILE`;

/** Whether a setting or its file is named. A file that cannot be read is a problem of its own: nothing is missing then. */
export const isGiven = (given: GivenSettings, name: string): boolean =>
  Boolean(given[name] || given[fileSetting(name)]);

/** The text of a file that a setting names, without the newline at its end. */
export function secretFile(setting: string, path: string): string {
  try {
    return fileText(path).trim();
  } catch (error) {
    throw new ConfigError(
      `${setting} names ${path}, which cannot be read (${whyUnread(error)}): correct the path or its rights`,
    );
  }
}

/** What is wrong with the settings. An operator corrects them together, so all problems are one error. */
export class SettingProblems {
  readonly #found: string[] = [];

  add(problem: string): void {
    if (!this.#found.includes(problem)) this.#found.push(problem);
  }

  /** Undefined if `read` throws a `ConfigError`, which is noted. */
  of<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.add(error.message);
      return undefined;
    }
  }

  /** Throws if there are any. A problem with the content of a file names the setting that named the file. */
  refuse(env: NodeJS.ProcessEnv): void {
    const problems = this.#found.map((problem) => problem.replace(/^\w+(?=[ :])/, (name) => givenName(name, env)));
    if (problems.length === 1) throw new ConfigError(problems[0]!);
    if (problems.length > 1)
      throw new ConfigError(
        [`${problems.length} settings are wrong:`, ...problems.map((one) => `  ${one}`)].join('\n'),
      );
  }
}

const givenName = (name: string, env: NodeJS.ProcessEnv): string =>
  !env[name] && env[fileSetting(name)] ? fileSetting(name) : name;

/** What is set: without empty variables, and with the content of files that `…_FILE` names. */
export function givenSettings(
  env: NodeJS.ProcessEnv,
  secrets: readonly string[],
  problems: SettingProblems,
): GivenSettings {
  const given = Object.fromEntries(Object.entries(env).filter(([, text]) => text));
  const read = secrets.map((name) => [name, problems.of(() => secretOf(name, given))] as const);
  return { ...given, ...Object.fromEntries(read) };
}

function secretOf(name: string, given: GivenSettings): string | undefined {
  const file = given[fileSetting(name)];
  if (file === undefined) return given[name];
  if (given[name] !== undefined) throw new ConfigError(`${name} and ${fileSetting(name)} are both set: remove one`);
  const content = secretFile(fileSetting(name), file);
  if (content === '') throw new ConfigError(`${fileSetting(name)} names ${file}, which is empty`);
  return content;
}

/** Below this length, other programs' variables are too similar by chance. */
const SHORTEST = 6;
const CLOSE = 2;

/** A warning for each variable that is not a setting, but is spelled almost like one. */
export function misspelledSettings(env: NodeJS.ProcessEnv, names: readonly string[]): string[] {
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || names.includes(name) || name.length < SHORTEST) return [];
    const meant = names.find((known) => known.length >= SHORTEST && distance(known, name) <= CLOSE);
    return meant ? [`${name} is not a setting and has no effect: did you mean ${meant}?`] : [];
  });
}

/** Levenshtein distance: insertions, deletions and replacements of one character. Any number beyond `CLOSE` is as good. */
function distance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > CLOSE) return CLOSE + 1;
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [place, opposite] of [...other].entries())
      next.push(Math.min(next[place]! + 1, row[place + 1]! + 1, row[place]! + (letter === opposite ? 0 : 1)));
    row = next;
    if (Math.min(...row) > CLOSE) break;
  }
  return Math.max(row.at(-1)!, Math.min(...row));
}
