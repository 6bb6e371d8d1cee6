import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isStorageFull, unwritablePath } from '../../../src/platform/objects/storage-full.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const failureOf = (work: () => void): unknown => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('an unwritable disk', () => {
  const folder = scratchFolder('unwritable');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is named by its path when a start cannot write there', () => {
    const readOnly = Object.assign(new Error('EROFS: read-only file system'), {
      code: 'EROFS',
      syscall: 'mkdir',
      path: '/data/keys',
    });
    expect([unwritablePath(readOnly), isStorageFull(readOnly)]).toEqual(['/data/keys', true]);
    writeFileSync(join(folder, 'file'), '');
    chmodSync(join(folder, 'file'), 0o400);
    // Not the disk's fault, so there is no message.
    expect(unwritablePath(failureOf(() => mkdirSync(join(folder, 'file', 'below'))))).toBeUndefined();
    expect(unwritablePath(new Error('something else'))).toBeUndefined();
  });
});
