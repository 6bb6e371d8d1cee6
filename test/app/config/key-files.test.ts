import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { keepKeysPrivate, KeyFiles } from '../../../src/app/config/key-files.ts';
import { NotAFile } from '../../../src/platform/file-content.ts';
import { Unseen } from '../../../src/platform/is-found.ts';
import { makeNamedPipe } from '../../dsl/named-pipe.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

describe('the master key of the embedded default', () => {
  const dataDir = scratchFolder('key-files');
  const file = (name: string) => join(dataDir, 'keys', name);
  const env = { DATA_DIR: dataDir };
  const replace = () => new KeyFiles(dataDir, true).replaceMasterKey();
  beforeEach(() => {
    rmSync(dataDir, { recursive: true, force: true });
    mkdirSync(dataDir, { recursive: true });
  });
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('is created once, and stays beside the one that replaces it', () => {
    const first = readConfig(env);
    expect(first.otherMasterKey).toBeUndefined();
    replace();
    const second = readConfig(env);
    expect(second.masterKey).not.toEqual(first.masterKey);
    expect(second.otherMasterKey).toEqual(first.masterKey);
    for (const name of ['master-key', 'master-key.former']) expect(statSync(file(name)).mode & 0o777).toBe(0o600);
  });

  it('is not replaced again while the previous one exists', () => {
    readConfig(env);
    replace();
    const both = ['master-key', 'master-key.former'].map((name) => readFileSync(file(name), 'utf8'));
    expect(replace).toThrow(ConfigError);
    expect(['master-key', 'master-key.former'].map((name) => readFileSync(file(name), 'utf8'))).toEqual(both);
  });

  it('is replaced by the next attempt after an attempt that only stored the former one', () => {
    const { masterKey } = readConfig(env);
    writeFileSync(file('0123.unfinished'), 'half of a k');
    linkSync(file('master-key'), file('master-key.former'));
    expect(readConfig(env).masterKey).toEqual(masterKey);
    replace();
    expect(readConfig(env).otherMasterKey).toEqual(masterKey);
    expect(readConfig(env).masterKey).not.toEqual(masterKey);
  });

  it('leaves no copy of itself under another name', () => {
    readConfig(env);
    replace();
    expect(readdirSync(join(dataDir, 'keys')).toSorted()).toEqual([
      'audit-hmac-key',
      'license-signing.pem',
      'master-key',
      'master-key.former',
    ]);
  });

  it('is not stored if there is none', () => {
    expect(replace).toThrow(/no master key/);
  });

  it('is not replaced, or used, beside a former one that is a link to nothing', () => {
    readConfig(env);
    symlinkSync('gone', file('master-key.former'));
    const sentence = `${file('master-key.former')} is a link to nothing: restore it from a backup`;
    for (const look of [replace, () => readConfig(env)]) expect(look).toThrow(sentence);
    expect(new KeyFiles(dataDir, true).problems(() => false).map(({ message }) => message)).toEqual([sentence]);
  });

  it('is named if the former one is no key', () => {
    readConfig(env);
    writeFileSync(file('master-key.former'), 'junk');
    expect(new KeyFiles(dataDir, true).problems(() => false).map(({ message }) => message)).toEqual([
      `${file('master-key.former')} must be 32 bytes, as 64 hex digits or in base64`,
    ]);
  });

  it('is read from the environment together with its predecessor', () => {
    const [now, before] = ['ab'.repeat(32), 'cd'.repeat(32)];
    const config = readConfig({ ...env, MASTER_KEY: now, OTHER_MASTER_KEY: before });
    expect([config.masterKey.toString('hex'), config.otherMasterKey?.toString('hex')]).toEqual([now, before]);
    expect(() => readConfig({ ...env, MASTER_KEY: now, OTHER_MASTER_KEY: 'short' })).toThrow(
      /OTHER_MASTER_KEY must be 32 bytes/,
    );
  });

  describe.each(['master-key', 'audit-hmac-key', 'license-signing.pem'])('the file %s', (name) => {
    const problems = () => new KeyFiles(dataDir, true).problems(() => false).map(({ message }) => message);
    const stops: (() => void)[] = [];
    beforeEach(() => void readConfig(env));
    afterEach(() => stops.splice(0).forEach((stop) => stop()));

    it.each([
      ['holds something else', (path: string) => writeFileSync(path, 'junk')],
      ['is empty', (path: string) => writeFileSync(path, '')],
      [
        'is missing beside a database',
        (path: string) => {
          rmSync(path);
          mkdirSync(join(dataDir, 'postgres'));
        },
      ],
    ])('that %s is named in a sentence, and stays as it is', (_title, damage) => {
      damage(file(name));
      const before = readdirSync(join(dataDir, 'keys'));
      expect(() => readConfig(env)).toThrow(ConfigError);
      expect(() => readConfig(env)).toThrow(file(name));
      expect(problems()).toEqual([expect.stringContaining(file(name))]);
      expect(readdirSync(join(dataDir, 'keys'))).toEqual(before);
    });

    it('is not called missing, or made anew, if nobody can tell whether it is there', () => {
      // A loop stands for what another user may not see: nothing is hidden from the one that mostly runs tests.
      rmSync(file(name));
      symlinkSync(file(name), file(name));
      mkdirSync(join(dataDir, 'postgres'));
      expect(() => readConfig(env)).toThrow(Unseen);
      expect(problems()).toEqual([`${file(name)} leads into a loop of links: put the file in its place`]);
    });

    it.each([
      ['a folder', (path: string) => mkdirSync(path)],
      ['a named pipe', (path: string) => stops.push(makeNamedPipe(path))],
      ['a device', (path: string) => symlinkSync('/dev/zero', path)],
    ])('that is %s is named, not waited for, and stays as it is', (kind, make) => {
      rmSync(file(name));
      make(file(name));
      const { mode } = statSync(file(name));
      const sentence = `${file(name)} is ${kind}, where a file must be: put the file in its place`;
      expect(() => readConfig(env)).toThrow(NotAFile);
      expect(() => readConfig(env)).toThrow(sentence);
      expect(problems()).toEqual([sentence]);
      keepKeysPrivate(dataDir);
      expect(statSync(file(name)).mode).toBe(mode);
    });

    it('keeps its mode when it is only read, and is closed to others by the start', () => {
      const mode = () => statSync(file(name)).mode & 0o777;
      chmodSync(file(name), 0o644);
      readConfig(env);
      problems();
      expect(mode()).toBe(0o644);
      keepKeysPrivate(dataDir);
      expect(mode()).toBe(0o600);
    });

    it.each([false, true])('that is a link to nothing is called so, beside a database or not (%s)', (isInUse) => {
      rmSync(file(name));
      symlinkSync('gone', file(name));
      if (isInUse) mkdirSync(join(dataDir, 'postgres'));
      const before = readdirSync(join(dataDir, 'keys'));
      const sentence = `${file(name)} is a link to nothing: restore it from a backup`;
      expect(() => readConfig(env)).toThrow(sentence);
      expect(problems()).toEqual([sentence]);
      expect(readdirSync(join(dataDir, 'keys'))).toEqual(before);
    });

    it('may be a link to a file', () => {
      const before = readConfig(env);
      renameSync(file(name), join(dataDir, 'secret'));
      symlinkSync(join(dataDir, 'secret'), file(name));
      expect(readConfig(env)).toEqual(before);
    });

    it.runIf(process.getuid?.() === 0)('keeps its mode if it is of somebody else', () => {
      chmodSync(file(name), 0o644);
      chownSync(file(name), 65_534, 65_534);
      keepKeysPrivate(dataDir);
      expect(statSync(file(name)).mode & 0o777).toBe(0o644);
    });

    it('is not looked at if a setting holds the key', () => {
      writeFileSync(file(name), 'junk');
      expect(new KeyFiles(dataDir, true).problems(() => true)).toEqual([]);
    });
  });
});
