import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../../platform/config-error.ts';
import { requireWritable } from './data-directory.ts';
import { secretFile } from './given-settings.ts';
import { KEY_FORM, pemText, symmetricKey } from './setting-types.ts';

/** The private license key that an embedded installation generated, for `castellan license issue`. */
export function licenseSigningKey(dataDir: string): string {
  const file = join(resolve(dataDir), 'keys', 'license-signing.pem');
  if (!existsSync(file))
    throw new ConfigError(
      `there is no license signing key in ${dataDir}: name the file that holds it with --signing-key`,
    );
  return readFileSync(file, 'utf8');
}

const SIGNING_KEY_LINE = /^LICENSE_SIGNING_KEY=(.*)$/m;

/** A license signing key from a PEM file, or from a file of `castellan keys make`. */
export function readSigningKey(file: string): KeyObject {
  const content = secretFile('--signing-key', file);
  const { data } = pemText.safeParse(SIGNING_KEY_LINE.exec(content)?.[1] ?? content);
  try {
    const key = createPrivateKey(data ?? '');
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Reported below: the error of the library would not name the file.
  }
  throw new ConfigError(`--signing-key: ${file} must hold an Ed25519 private key in PEM, or LICENSE_SIGNING_KEY=…`);
}

const MASTER_KEY_FILE = 'master-key';
/** The previous master key, kept while something may still be sealed under it alone. */
const FORMER_MASTER_KEY_FILE = 'master-key.former';

/** Keys of an embedded installation: generated once, kept in DATA_DIR/keys (mode 0600). */
export class KeyFiles {
  readonly #folder: string;
  readonly #embedded: boolean;

  constructor(dataDir: string, embedded: boolean) {
    this.#folder = join(dataDir, 'keys');
    this.#embedded = embedded;
  }

  /** 32 bytes, given as 64 hex digits or in base64. */
  symmetric(name: string, given: string | undefined): Buffer {
    return this.given(
      name,
      given ?? this.#kept(name, `${name.toLowerCase().replaceAll('_', '-')}`, () => randomBytes(32).toString('hex')),
    );
  }

  given(name: string, text: string): Buffer {
    const key = symmetricKey(text);
    if (!key) throw new ConfigError(`${name} ${KEY_FORM}`);
    return key;
  }

  formerMasterKey(): Buffer | undefined {
    const file = join(this.#folder, FORMER_MASTER_KEY_FILE);
    return this.#embedded && existsSync(file)
      ? this.given('the former master key', readFileSync(file, 'utf8').trim())
      : undefined;
  }

  /**
   * Replaces the master key in DATA_DIR; the current key becomes the former one. At every moment, the two files together
   * hold every key that is in use.
   */
  replaceMasterKey(): void {
    const [current, former] = [join(this.#folder, MASTER_KEY_FILE), join(this.#folder, FORMER_MASTER_KEY_FILE)];
    if (!existsSync(current))
      throw new ConfigError(`there is no master key in ${this.#folder}: set a new MASTER_KEY instead`);
    // Two equal files are left by an attempt that was interrupted here.
    if (existsSync(former) && readFileSync(former, 'utf8') !== readFileSync(current, 'utf8'))
      throw new ConfigError(
        `${former} already exists: delete it once \`master-key status\` shows that nothing needs it`,
      );
    if (!existsSync(former)) linkSync(current, former);
    const next = this.#written(randomBytes(32).toString('hex'));
    sync(this.#folder);
    renameSync(next, current);
    sync(this.#folder);
  }

  licensePublicKey(given: string | undefined): string {
    if (given) return given;
    const pem = this.#kept('LICENSE_PUBLIC_KEY', 'license-signing.pem', () =>
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    );
    return createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'pem' }).toString();
  }

  #kept(name: string, fileName: string, make: () => string): string {
    if (!this.#embedded) throw new ConfigError(`${name} is required with DATABASE_URL`);
    const file = join(this.#folder, fileName);
    if (!existsSync(file)) {
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
    chmodSync(file, 0o600);
    return readFileSync(file, 'utf8').trim();
  }

  /** Writes a temporary file and syncs it, so that the key is on disk before anything sealed under it. */
  #written(text: string): string {
    const file = join(this.#folder, `${randomBytes(8).toString('hex')}.unfinished`);
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    sync(file);
    return file;
  }
}

/** Syncs a file, or a directory's entries, to the disk. */
function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
