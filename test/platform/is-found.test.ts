import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isFound, leadsNowhere } from '../../src/platform/is-found.ts';
import { scratchFolder } from '../dsl/scratch.ts';

describe('whether something is there', () => {
  const folder = scratchFolder('is-found');
  beforeAll(() => {
    mkdirSync(join(folder, 'folder'), { recursive: true });
    writeFileSync(join(folder, 'file'), '');
    symlinkSync('nowhere', join(folder, 'dangling'));
    symlinkSync('loop', join(folder, 'loop'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['file', true],
    ['folder', true],
    ['nothing', false],
    ['nothing/below', false],
    ['file/below', false],
    ['dangling', false],
  ])('%s: %s', (name, expected) => expect(isFound(join(folder, name))).toBe(expected));

  it('is not told by a link that leads nowhere', () =>
    expect(['dangling', 'file', 'nothing', 'file/below'].map((name) => leadsNowhere(join(folder, name)))).toEqual([
      true,
      false,
      false,
      false,
    ]));

  it('is unknown, and says so, where it cannot be told', () =>
    expect(() => isFound(join(folder, 'loop'))).toThrow(
      expect.objectContaining({ code: 'ELOOP', path: join(folder, 'loop'), syscall: 'stat' }),
    ));
});
