import { mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DirectoryObjects } from '../../../src/platform/objects/directory-objects.ts';
import { ObjectStoreUnavailable } from '../../../src/platform/objects/object-store.ts';
import { makeNamedPipe } from '../../dsl/named-pipe.ts';
import { objectsContract } from '../../contracts/objects.contract.ts';

objectsContract('a directory', async () => {
  const root = await mkdtemp('/tmp/castellan-objects-');
  return {
    objects: new DirectoryObjects(root),
    breakIt: async () => {
      await rm(root, { recursive: true });
      // Paths below nothing, or below a file, do not exist; a loop of links can be neither read nor written.
      await symlink(root, root);
    },
    close: () => rm(root, { recursive: true, force: true }),
  };
});

describe('objects in a directory', () => {
  it.each([
    ['a file', (path: string) => writeFile(path, '')],
    ['a link to nothing', (path: string) => symlink('gone', path)],
  ])('are unavailable, and neither missing nor deleted, if the directory is %s', async (_kind, make) => {
    const parent = await mkdtemp('/tmp/castellan-objects-');
    const root = join(parent, 'objects');
    const objects = new DirectoryObjects(root);
    expect(await objects.get('things/one')).toBeUndefined();
    await objects.delete('things/one');
    await make(root);
    await expect(objects.get('things/one')).rejects.toThrow(ObjectStoreUnavailable);
    await expect(objects.delete('things/one')).rejects.toThrow(ObjectStoreUnavailable);
    await expect(objects.list('things/')[Symbol.asyncIterator]().next()).rejects.toThrow(ObjectStoreUnavailable);
    await expect(objects.look()).rejects.toThrow(ObjectStoreUnavailable);
    await rm(parent, { recursive: true });
  });

  it.each([
    [
      'a folder above an object is a file',
      async (root: string) => (
        await rm(join(root, 'things'), { recursive: true }),
        writeFile(join(root, 'things'), '')
      ),
    ],
    [
      'a folder above an object leads to nothing',
      async (root: string) => (
        await rm(join(root, 'things'), { recursive: true }),
        symlink('gone', join(root, 'things'))
      ),
    ],
    [
      'a named pipe is in the place of an object',
      async (root: string) => (await rm(join(root, 'things/one')), makeNamedPipe(join(root, 'things/one'))),
    ],
  ])('are unavailable if %s', async (_title, damage) => {
    const root = await mkdtemp('/tmp/castellan-objects-');
    const objects = new DirectoryObjects(root);
    await objects.put('things/one', Buffer.from('x'));
    await damage(root);
    await expect(objects.get('things/one')).rejects.toThrow(ObjectStoreUnavailable);
    await rm(root, { recursive: true });
  });

  it('are accessible to the service user only, and files that a crash left half written are never listed and are removed', async () => {
    const root = await mkdtemp('/tmp/castellan-objects-');
    const objects = new DirectoryObjects(root);
    await objects.put('things/one', Buffer.from('x'));
    expect((await stat(join(root, 'things'))).mode & 0o077).toBe(0);
    expect((await stat(join(root, 'things/one'))).mode & 0o077).toBe(0);
    const half = join(root, 'things/two.0b6c.part');
    await writeFile(half, 'ha');
    const listed: string[] = [];
    for await (const { key } of objects.list('things/')) listed.push(key);
    expect(await readdir(join(root, 'things'))).toContain('two.0b6c.part');
    await utimes(half, 0, 0);
    for await (const { key } of objects.list('things/')) listed.push(key);
    expect(listed).toEqual(['things/one', 'things/one']);
    expect(await readdir(join(root, 'things'))).toEqual(['one']);
    await rm(root, { recursive: true });
  });
});
