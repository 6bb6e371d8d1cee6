import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/app/config/config.ts';
import { requireWritable } from '../../../src/app/config/data-directory.ts';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const folder = scratchFolder('data-directory');
const file = join(folder, 'file');
writeFileSync(file, '');
mkdirSync(join(folder, 'with-keys'));
writeFileSync(join(folder, 'with-keys', 'keys'), '');

/** /proc refuses every new name with ENOENT, also the superuser's. */
const unusable = [
  file,
  join(file, 'below'),
  join(folder, 'with-keys'),
  join(folder, 'x'.repeat(300)),
  ...(process.platform === 'linux' ? ['/proc/castellan', '/proc/castellan/data'] : []),
];

describe('the data directory', () => {
  it.each(unusable)('is refused in one sentence: %s', (dataDir) => {
    const reading = () => readConfig({ DATA_DIR: dataDir }, 'all');
    expect(reading).toThrow(ConfigError);
    expect(reading).toThrow(/^DATA_DIR: .* cannot be written \(.*\)\. Set DATA_DIR to /);
  });

  it('is created with the directories above it', () => {
    const deep = join(folder, 'a', 'b', 'c');
    expect(() => requireWritable(deep)).not.toThrow();
    expect(() => requireWritable(deep)).not.toThrow();
  });
});
