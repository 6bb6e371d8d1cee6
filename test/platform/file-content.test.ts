import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SealFile } from '../../src/contexts/audit/seal-file.ts';
import { fileText, NotAFile, whyUnread } from '../../src/platform/file-content.ts';
import { Unseen } from '../../src/platform/is-found.ts';
import { makeNamedPipe } from '../dsl/named-pipe.ts';
import { scratchFolder } from '../dsl/scratch.ts';

describe('the content of a file that somebody else may have put there', () => {
  const folder = scratchFolder('file-content');
  const server = createServer();
  let stopWriting: () => void;
  beforeAll(async () => {
    mkdirSync(join(folder, 'folder'), { recursive: true });
    writeFileSync(join(folder, 'file'), 'the text\n');
    symlinkSync('file', join(folder, 'link'));
    symlinkSync('link', join(folder, 'link-to-a-link'));
    symlinkSync('pipe', join(folder, 'link-to-a-pipe'));
    symlinkSync('/dev/zero', join(folder, 'device'));
    symlinkSync('loop', join(folder, 'loop'));
    symlinkSync('gone', join(folder, 'dangling'));
    writeFileSync(join(folder, 'large'), '');
    truncateSync(join(folder, 'large'), 3 * 1024 ** 3);
    stopWriting = makeNamedPipe(join(folder, 'pipe'));
    await once(server.listen(join(folder, 'socket')), 'listening');
  });
  afterAll(() => {
    stopWriting();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const errorOf = (name: string): unknown => {
    try {
      return fileText(join(folder, name));
    } catch (error) {
      return error;
    }
  };

  it.each(['file', 'link', 'link-to-a-link'])('is read: %s', (name) =>
    expect(fileText(join(folder, name))).toBe('the text\n'),
  );

  it.each([
    ['folder', 'a folder'],
    ['pipe', 'a named pipe'],
    ['link-to-a-pipe', 'a named pipe'],
    ['device', 'a device'],
    ['socket', 'a socket'],
    ['dangling', 'a link to nothing'],
  ])('is not waited for where there is none: %s', (name, kind) => {
    const error = errorOf(name);
    expect(error).toBeInstanceOf(NotAFile);
    expect([(error as Error).message, whyUnread(error)]).toEqual([
      `${join(folder, name)} is ${kind}, where a file must be: put the file in its place`,
      `it is ${kind}`,
    ]);
  });

  it('is missing, or hidden, with its name', () => {
    expect(errorOf('nothing')).toMatchObject({ code: 'ENOENT', path: join(folder, 'nothing') });
    expect(errorOf('loop')).toBeInstanceOf(Unseen);
    expect((errorOf('loop') as Error).message).toBe(
      `${join(folder, 'loop')} leads into a loop of links: put the file in its place`,
    );
  });

  it('has a limit, which the sentence says', () => {
    expect((errorOf('large') as Error).message).toBe(
      `${join(folder, 'large')} is larger than 4 MiB, where a smaller file must be: put the file in its place`,
    );
    expect(whyUnread(errorOf('large'))).toBe('it is larger than 4 MiB');
    writeFileSync(join(folder, 'five'), 'a'.repeat(5 * 1024 ** 2));
    expect(errorOf('five')).toBeInstanceOf(NotAFile);
    expect(fileText(join(folder, 'five'), 5 * 1024 ** 2)).toHaveLength(5 * 1024 ** 2);
    const descriptor = openSync(join(folder, 'five'), 'r');
    expect(() => fileText(`/dev/fd/${descriptor}`)).toThrow(/is larger than 4 MiB/);
    expect(() => new SealFile(folder, 'large').owners()).toThrow(/large is larger than 500 MiB/);
    closeSync(descriptor);
  });

  it('may come from whoever started the program', () => {
    const descriptor = openSync(join(folder, 'file'), 'r');
    expect(fileText(`/dev/fd/${descriptor}`)).toBe('the text\n');
    closeSync(descriptor);
    const module = fileURLToPath(new URL('../../src/platform/file-content.ts', import.meta.url));
    const script = `import { fileText } from ${JSON.stringify(module)}; console.log(fileText(process.argv[1]));`;
    const words = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script];
    const { stdout, stderr } = spawnSync('bash', ['-c', `"$@" <(printf passed)`, 'bash', ...words], {
      encoding: 'utf8',
    });
    expect([stdout, stderr]).toEqual(['passed\n', '']);
  });
});
