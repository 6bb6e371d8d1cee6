import { describe, expect, it } from 'vitest';
import { Turns } from '../../../src/platform/execution/turns.ts';

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

describe('turns by name', () => {
  it('are taken one after another, in the order in which they were asked for', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const door = gate();
    const work = (name: string) => async () => {
      log.push(`${name} begins`);
      await door.opened;
      log.push(`${name} ends`);
    };
    const all = ['a', 'b', 'c'].map((name) => turns.take('stream', work(name)));
    door.open();
    await Promise.all(all);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('of different names are taken side by side', async () => {
    const turns = new Turns();
    const meeting = gate();
    await Promise.all([turns.take('one', () => meeting.opened), turns.take('other', async () => meeting.open())]);
  });

  it('go on after one that failed, which tells only its own caller', async () => {
    const turns = new Turns();
    const failed = turns.take('stream', () => Promise.reject(new Error('mine')));
    const next = turns.take('stream', () => Promise.resolve('next'));
    await expect(failed).rejects.toThrow('mine');
    await expect(next).resolves.toBe('next');
  });
});
