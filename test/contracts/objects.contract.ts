import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  MAX_OBJECT_BYTES,
  objectKey,
  objectPrefix,
  ObjectStoreUnavailable,
  type ObjectStore,
} from '../../src/platform/objects/object-store.ts';

export interface ObjectsBench {
  readonly objects: ObjectStore;
  /** Removes the storage: every later request fails. */
  breakIt(): Promise<void>;
  close(): Promise<void>;
}

/** The contract of every object storage. */
export function objectsContract(place: string, start: () => Promise<ObjectsBench>): void {
  describe(`objects in ${place}`, () => {
    let bench: ObjectsBench;
    beforeAll(async () => {
      bench = await start();
    });
    afterAll(() => bench.close());

    const someKey = (owner: string = randomUUID()) => objectKey('things', owner, randomUUID());
    const keysOf = async (prefix: string): Promise<string[]> => {
      const keys: string[] = [];
      for await (const { key } of bench.objects.list(prefix)) keys.push(key);
      return keys.sort();
    };

    it('returns stored bytes unchanged, and nothing for an unknown key', async () => {
      for (const bytes of [Buffer.alloc(0), Buffer.from([0, 255, 13, 10]), randomBytes(3_000_000)]) {
        const key = someKey();
        await bench.objects.put(key, bytes);
        expect((await bench.objects.get(key))!.equals(bytes)).toBe(true);
      }
      expect(await bench.objects.get(someKey())).toBeUndefined();
    });

    it('replaces, and deletes any number of times', async () => {
      const key = someKey();
      await bench.objects.put(key, Buffer.from('first'));
      await bench.objects.put(key, Buffer.from('second'));
      expect((await bench.objects.get(key))!.toString()).toBe('second');
      await bench.objects.delete(key);
      await bench.objects.delete(key);
      expect(await bench.objects.get(key)).toBeUndefined();
    });

    it('never shows a partial object while it is being replaced', async () => {
      const key = someKey();
      const [a, b] = [Buffer.alloc(600_000, 'a'), Buffer.alloc(400_000, 'b')];
      await bench.objects.put(key, a);
      const writing = (async () => {
        for (let n = 0; n < 15; n += 1) await bench.objects.put(key, n % 2 === 0 ? b : a);
      })();
      for (let n = 0; n < 30; n += 1) {
        const seen = await bench.objects.get(key);
        expect(seen!.equals(a) || seen!.equals(b)).toBe(true);
      }
      await writing;
    });

    it('lists objects by prefix, page by page, with the time of their storage', async () => {
      const [mine, other] = [randomUUID(), randomUUID()];
      const before = Date.now();
      const keys = Array.from({ length: 23 }, () => someKey(mine)).sort();
      for (const key of [...keys, someKey(other)]) await bench.objects.put(key, Buffer.from('x'));
      expect(await keysOf(objectPrefix('things', mine))).toEqual(keys);
      expect(await keysOf(objectPrefix('things', randomUUID()))).toEqual([]);
      for await (const { storedAt } of bench.objects.list(objectPrefix('things', mine)))
        expect(Math.abs(storedAt - before)).toBeLessThan(60_000);
    });

    it('accepts only ids as keys, nothing that could lead elsewhere, and limits sizes', async () => {
      for (const key of [
        '../../etc/passwd',
        'things/../secret',
        '/etc/passwd',
        'things//x',
        'things',
        'things/a b',
        'things/.hidden',
        'things/A',
        'things/x\0y',
        `things/${'a'.repeat(65)}`,
        'things/%2e%2e',
        '',
      ]) {
        await expect(bench.objects.put(key, Buffer.from('x'))).rejects.toThrow('not an object name');
        await expect(bench.objects.get(key)).rejects.toThrow('not an object name');
        await expect(bench.objects.delete(key)).rejects.toThrow('not an object name');
      }
      expect(() => objectKey('things', '..')).toThrow('an object name consists of 2 to 8 ids');
      expect(() => objectPrefix('a/b')).toThrow('a prefix of object names consists of 1 to 7 ids');
      for (const prefix of ['', '/', '../', 'things', 'things/../'])
        await expect(keysOf(prefix)).rejects.toThrow('not a prefix of object names');
      await expect(bench.objects.put(someKey(), Buffer.alloc(MAX_OBJECT_BYTES + 1))).rejects.toThrow('too large');
    });

    it('reports that it is unavailable, without the reason', async () => {
      await bench.objects.look();
      await bench.breakIt();
      const key = someKey();
      for (const asked of [
        () => bench.objects.put(key, Buffer.from('x')),
        () => bench.objects.get(key),
        () => bench.objects.delete(key),
        () => keysOf(objectPrefix('things')),
        () => bench.objects.look(),
      ]) {
        const error = await asked().then(
          () => undefined,
          (thrown: unknown) => thrown as Error,
        );
        expect(error).toBeInstanceOf(ObjectStoreUnavailable);
        expect(error!.message).toMatch(/^the object (?:storage|directory) [a-z0-9 ]+$/);
      }
    });
  });
}
