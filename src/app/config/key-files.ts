import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../../platform/config-error.ts';
import { requireWritable } from './data-directory.ts';
import { KEY_FORM, pemText, symmetricKey } from './setting-types.ts';
import { fileText } from '../../platform/file-content.ts';
import { isFound, leadsNowhere } from '../../platform/is-found.ts';

/** The private license key that an embedded installation generated, for `castellan license issue`. */
export function licenseSigningKey(dataDir: string): string {
  const file = join(resolve(dataDir), 'keys', 'license-signing.pem');
  if (!isKept(file))
    throw new ConfigError(
      `there is no license signing key in ${dataDir}: name the file that holds it with --signing-key`,
    );
  return signingKeyIn(file).export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** The license key that an embedded installation keeps. */
function signingKeyIn(file: string): KeyObject {
  const pem = readKept(file);
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Reported below: the error of the library would not name the file.
  }
  throw new ConfigError(`${file} must hold an Ed25519 private key in PEM: restore it from a backup`);
}

const readKept = (file: string): string => fileText(file).trim();

/** A link to nothing is not missing: what it led to may come back, and no other key is made in its place. */
function isKept(file: string): boolean {
  if (leadsNowhere(file)) throw new ConfigError(`${file} is a link to nothing: restore it from a backup`);
  return isFound(file);
}

const SIGNING_KEY_LINE = /^LICENSE_SIGNING_KEY=(.*)$/m;

/** A license signing key from the content of a PEM file, or of a file of `castellan keys make`. */
export function signingKeyFrom(file: string, content: string): KeyObject {
  const { data } = pemText.safeParse(SIGNING_KEY_LINE.exec(content)?.[1] ?? content);
  try {
    const key = createPrivateKey(data ?? '');
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Reported below: the error of the library would not name the file.
  }
  throw new ConfigError(`--signing-key: ${file} must hold an Ed25519 private key in PEM, or LICENSE_SIGNING_KEY=…`);
}

/** The folder of the embedded database below DATA_DIR. */
export const EMBEDDED_DATABASE = 'postgres';
const MASTER_KEY_FILE = 'master-key';
const KEPT_AS = {
  MASTER_KEY: MASTER_KEY_FILE,
  AUDIT_HMAC_KEY: 'audit-hmac-key',
  LICENSE_PUBLIC_KEY: 'license-signing.pem',
} as const;

const missing = (name: string, file: string): string =>
  `${file} is missing, and the database in DATA_DIR was made with it: restore it from a backup, or set ${name}`;

/** The previous master key, kept while something may still be sealed under it alone. */
const FORMER_MASTER_KEY_FILE = 'master-key.former';

/** Keys of an embedded installation: generated once, kept in DATA_DIR/keys (mode 0600). */
export class KeyFiles {
  readonly #folder: string;
  readonly #embedded: boolean;
  /** Whether there is a database that was made with the keys. */
  readonly #isInUse: boolean;

  constructor(dataDir: string, embedded: boolean) {
    this.#folder = join(dataDir, 'keys');
    this.#embedded = embedded;
    this.#isInUse = isFound(join(dataDir, EMBEDDED_DATABASE));
  }

  /** 32 bytes, given as 64 hex digits or in base64. */
  symmetric(name: 'MASTER_KEY' | 'AUDIT_HMAC_KEY', given: string | undefined): Buffer {
    if (given !== undefined) return this.given(name, given);
    const file = this.#kept(name, () => randomBytes(32).toString('hex'));
    return this.given(file, readKept(file));
  }

  given(name: string, text: string): Buffer {
    const key = symmetricKey(text);
    if (!key) throw new ConfigError(`${name} ${KEY_FORM}`);
    return key;
  }

  formerMasterKey(): Buffer | undefined {
    const file = join(this.#folder, FORMER_MASTER_KEY_FILE);
    return this.#embedded && isKept(file) ? this.given(file, readKept(file)) : undefined;
  }

  /**
   * Replaces the master key in DATA_DIR; the current key becomes the former one. At every moment, the two files together
   * hold every key that is in use.
   */
  replaceMasterKey(): void {
    const [current, former] = [join(this.#folder, MASTER_KEY_FILE), join(this.#folder, FORMER_MASTER_KEY_FILE)];
    if (!isKept(current))
      throw new ConfigError(`there is no master key in ${this.#folder}: set a new MASTER_KEY instead`);
    // Two equal files are left by an attempt that was interrupted here.
    const inUse = readKept(current);
    if (isKept(former) && readKept(former) !== inUse)
      throw new ConfigError(
        `${former} already exists: delete it once \`master-key status\` shows that nothing needs it`,
      );
    if (!isKept(former)) linkSync(current, former);
    const next = this.#written(randomBytes(32).toString('hex'));
    sync(this.#folder);
    renameSync(next, current);
    sync(this.#folder);
  }

  licensePublicKey(given: string | undefined): string {
    if (given) return given;
    const file = this.#kept('LICENSE_PUBLIC_KEY', () =>
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    );
    return createPublicKey(signingKeyIn(file)).export({ type: 'spki', format: 'pem' }).toString();
  }

  /** What is wrong with the files, without making or changing any. `isGiven`: a setting holds the key instead. */
  problems(isGiven: (name: string) => boolean): Error[] {
    const looks = Object.entries(KEPT_AS)
      .filter(([name]) => !isGiven(name))
      .map(
        ([name, fileName]) =>
          () =>
            this.#check(name, join(this.#folder, fileName)),
      );
    if (!isGiven('OTHER_MASTER_KEY')) looks.push(() => void this.formerMasterKey());
    const found = looks.flatMap(errorOf);
    // A folder that hides all of them is one problem.
    return found.filter(({ message }, at) => found.findIndex((other) => other.message === message) === at);
  }

  #check(name: string, file: string): void {
    if (isKept(file)) void (name === 'LICENSE_PUBLIC_KEY' ? signingKeyIn(file) : this.given(file, readKept(file)));
    else if (this.#isInUse) throw new ConfigError(missing(name, file));
  }

  /** The file, which is made if there is none, and no database that needs the one that was there. */
  #kept(name: keyof typeof KEPT_AS, make: () => string): string {
    if (!this.#embedded) throw new ConfigError(`${name} is required with DATABASE_URL`);
    const file = join(this.#folder, KEPT_AS[name]);
    if (!isKept(file)) {
      if (this.#isInUse) throw new ConfigError(missing(name, file));
      requireWritable(this.#folder, 0o700);
      const complete = this.#written(make());
      // A link appears atomically with its full content: if two processes start together, one creates it, both read it.
      try {
        linkSync(complete, file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      rmSync(complete);
      sync(this.#folder);
    }
    return file;
  }

  /** Writes a temporary file and syncs it, so that the key is on disk before anything sealed under it. */
  #written(text: string): string {
    const file = join(this.#folder, `${randomBytes(8).toString('hex')}.unfinished`);
    try {
      writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
      sync(file);
    } catch (error) {
      rmSync(file, { force: true });
      throw new ConfigError(`DATA_DIR: ${this.#folder} cannot be written (${(error as NodeJS.ErrnoException).code})`);
    }
    return file;
  }
}

function errorOf(look: () => void): Error[] {
  try {
    look();
    return [];
  } catch (error) {
    return [error as Error];
  }
}

/**
 * Takes the right to read the kept keys from others, who may have it after a restore. Only files of this user change: what
 * belongs to somebody else, or is no file, stays as it is. On a read-only mount, whoever mounted it decides.
 */
export function keepKeysPrivate(dataDir: string): void {
  for (const name of [...Object.values(KEPT_AS), FORMER_MASTER_KEY_FILE])
    try {
      const descriptor = openSync(join(dataDir, 'keys', name), constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        const found = fstatSync(descriptor);
        const isOpen = (found.mode & 0o177) !== 0;
        if (found.isFile() && found.uid === process.geteuid?.() && isOpen) fchmodSync(descriptor, 0o600);
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      if (!UNCHANGEABLE.has((error as NodeJS.ErrnoException).code)) throw error;
    }
}

/** There is no such file, it is a socket, or this user may not change it. What needs the file says so. */
const UNCHANGEABLE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ENXIO', 'ELOOP', 'EACCES', 'EPERM', 'EROFS']);

/** Syncs a file, or a directory's entries, to the disk. */
function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
