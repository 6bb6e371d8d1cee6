import { describe, expect, it } from 'vitest';
import { KeyedMutex } from '../../../src/platform/execution/keyed-mutex.ts';

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

describe('a keyed mutex', () => {
  it('admits callers one after another, in the order of their calls', async () => {
    const mutex = new KeyedMutex();
    const log: string[] = [];
    const door = gate();
    const work = (name: string) => async () => {
      log.push(`${name} begins`);
      await door.opened;
      log.push(`${name} ends`);
    };
    const all = ['a', 'b', 'c'].map((name) => mutex.run('stream', work(name)));
    door.open();
    await Promise.all(all);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('admits callers with different keys concurrently', async () => {
    const mutex = new KeyedMutex();
    const meeting = gate();
    await Promise.all([mutex.run('one', () => meeting.opened), mutex.run('other', async () => meeting.open())]);
  });

  it('continues after a failure, which only its own caller sees', async () => {
    const mutex = new KeyedMutex();
    const failed = mutex.run('stream', () => Promise.reject(new Error('mine')));
    const next = mutex.run('stream', () => Promise.resolve('next'));
    await expect(failed).rejects.toThrow('mine');
    await expect(next).resolves.toBe('next');
  });
});
