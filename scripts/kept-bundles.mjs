// Where bundles are kept: in `node_modules/.cache/castellan`, each in a folder named by its content, beside a record for
// each entry point. A record says which bundle is the latest, and what it was made of.
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
/** A bundle holds no secret: whatever mask its maker had, all users run the one bundle, and only its owner changes it. */
const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;
const OLD_MS = 2 * 24 * 3_600_000;

/** As deep as the folder of a bundle. */
export function exampleFolder(entry) {
  return path.join(cacheOf(entry), 'draft');
}

function cacheOf(entry) {
  return path.join(packagesOf(path.dirname(entry)), '.cache/castellan');
}

function recordOf(entry) {
  return path.join(cacheOf(entry), `${hashOf(entry)}.json`);
}

function hashOf(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 24);
}

/** The packages that the entry point resolves, or else the application's: a bundle below them resolves the same. */
export function packagesOf(folder) {
  const here = path.join(folder, 'node_modules');
  if (folder.startsWith(ROOT) && existsSync(here)) return here;
  return folder.length > ROOT.length ? packagesOf(path.dirname(folder)) : path.join(ROOT, 'node_modules');
}

/** Differs after every write, also after one that restores the modification time. */
export function stateOf(file) {
  const { size, ino, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  return [size, ino, mtimeNs, ctimeNs].join(' ');
}

/** The folder of the latest bundle, if it is whole and its sources are unchanged. */
export function unchanged(entry) {
  try {
    const { folder, seen, sizes } = JSON.parse(readFileSync(recordOf(entry), 'utf8'));
    if (!Object.entries(seen).every(([file, state]) => stateOf(file) === state)) return undefined;
    // Without this look, an empty file would run, and end as if all were well. Sizes stay the same in a copy of an image.
    if (!Object.entries(sizes).every(([name, size]) => statSync(path.join(folder, name)).size === size))
      return undefined;
    touch(folder, recordOf(entry));
    return folder;
  } catch {
    return undefined;
  }
}

/** For `removeUnused`, if it is allowed. */
function touch(...files) {
  try {
    for (const file of files) utimesSync(file, new Date(), new Date());
  } catch {
    // Where nothing can be written, nothing is removed.
  }
}

/**
 * Writes a bundle and its record. Returns its folder. Files that are missing or damaged are replaced one by one: other
 * processes and threads may read the rest, or be writing the same.
 */
export function keep(entry, { files, seen }) {
  const cache = cacheOf(entry);
  const folder = path.join(cache, hashOf(...files.flatMap(({ name, contents }) => [`${name}\0`, contents])));
  makeFolder(folder);
  touch(folder);
  // First: what is removed makes room.
  removeUnused(cache);
  const write = (file, contents) => writeWhole(file, contents, cache);
  for (const { name, contents } of files)
    if (!holds(path.join(folder, name), contents)) write(path.join(folder, name), contents);
  const sizes = Object.fromEntries(files.map(({ name, contents }) => [name, contents.length]));
  write(recordOf(entry), JSON.stringify({ folder, seen, sizes }));
  return folder;
}

function makeFolder(folder) {
  const first = mkdirSync(folder, { recursive: true });
  for (let made = folder; first && made.length >= first.length; made = path.dirname(made)) chmodSync(made, FOLDER_MODE);
}

function holds(file, contents) {
  return existsSync(file) && readFileSync(file).equals(contents);
}

/** On the disk before it gets its name: after a loss of power it is there as a whole or not at all. */
export function writeWhole(file, contents, drafts) {
  // Threads of a process, and processes of several containers, have the same number.
  const draft = path.join(drafts, `${randomBytes(8).toString('hex')}.draft`);
  try {
    writeFileSync(draft, contents, { flush: true });
    chmodSync(draft, FILE_MODE);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Bundles, records, and drafts of processes that were killed. */
function removeUnused(cache) {
  for (const name of readdirSync(cache)) {
    const file = path.join(cache, name);
    try {
      if (Date.now() - statSync(file).mtimeMs > OLD_MS) rmSync(file, { recursive: true, force: true });
    } catch {
      // Another process removes it, or only its owner may.
    }
  }
}
