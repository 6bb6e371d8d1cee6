import { execFileSync } from 'node:child_process';
import { isMainThread } from 'node:worker_threads';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { KeyFiles } from '../../../src/app/config/key-files.ts';
import { Unseen } from '../../../src/platform/is-found.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const NOBODY = 65_534;
const canBecomeAnother = process.getuid?.() === 0 && isMainThread;

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

  it('is read from the environment together with its predecessor', () => {
    const [now, before] = ['ab'.repeat(32), 'cd'.repeat(32)];
    const config = readConfig({ ...env, MASTER_KEY: now, OTHER_MASTER_KEY: before });
    expect([config.masterKey.toString('hex'), config.otherMasterKey?.toString('hex')]).toEqual([now, before]);
    expect(() => readConfig({ ...env, MASTER_KEY: now, OTHER_MASTER_KEY: 'short' })).toThrow(
      /OTHER_MASTER_KEY must be 32 bytes/,
    );
  });

  describe.each(['master-key', 'audit-hmac-key', 'license-signing.pem'])('the file %s', (name) => {
    beforeEach(() => void readConfig(env));

    it.each([
      ['holds something else', (path: string) => writeFileSync(path, 'junk')],
      ['is empty', (path: string) => writeFileSync(path, '')],
      [
        'is a folder',
        (path: string) => {
          rmSync(path);
          mkdirSync(path);
        },
      ],
      [
        'is a pipe, which nobody writes to',
        (path: string) => {
          rmSync(path);
          execFileSync('mkfifo', ['-m', '644', path]);
        },
      ],
      [
        'is a link to nothing',
        (path: string) => {
          rmSync(path);
          symlinkSync(join(dataDir, 'not-mounted'), path);
        },
      ],
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
      expect(new KeyFiles(dataDir, true).problems(() => false)).toEqual([expect.stringContaining(file(name))]);
      expect(readdirSync(join(dataDir, 'keys'))).toEqual(before);
    });

    it('is not called missing, or made anew, if nobody can tell whether it is there', () => {
      // A loop stands for what another user may not see: nothing is hidden from the one that mostly runs tests.
      rmSync(file(name));
      symlinkSync(file(name), file(name));
      mkdirSync(join(dataDir, 'postgres'));
      expect(() => readConfig(env)).toThrow(Unseen);
      expect(new KeyFiles(dataDir, true).problems(() => false)).toEqual([
        `${file(name)} cannot be looked at (ELOOP): use the user of the service, or give this one the right`,
      ]);
    });

    it('keeps its mode unless it is a file', () => {
      rmSync(file(name));
      mkdirSync(file(name), { mode: 0o755 });
      expect(() => readConfig(env)).toThrow(ConfigError);
      expect(statSync(file(name)).mode & 0o777).toBe(0o755);
    });

    it.runIf(canBecomeAnother)('of another user is refused in a sentence, and stays as it is', () => {
      const keys = join(dataDir, 'keys');
      for (const path of [dataDir, keys, ...readdirSync(keys).map(file)]) chownSync(path, NOBODY, NOBODY);
      chownSync(file(name), 0, 0);
      for (const [mode, kind] of [
        [0o600, Unseen],
        [0o644, ConfigError],
      ] as const) {
        chmodSync(file(name), mode);
        process.seteuid!(NOBODY);
        try {
          expect(() => readConfig(env)).toThrow(kind);
          expect(() => readConfig(env)).toThrow(file(name));
        } finally {
          process.seteuid!(0);
        }
        expect(statSync(file(name)).mode & 0o777).toBe(mode);
      }
    });

    it('is not looked at if a setting holds the key', () => {
      writeFileSync(file(name), 'junk');
      expect(new KeyFiles(dataDir, true).problems(() => true)).toEqual([]);
    });
  });
});
