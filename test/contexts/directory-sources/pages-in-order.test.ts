import { describe, expect, it } from 'vitest';
import { PagesInOrder } from '../../../src/contexts/directory-sources/pages-in-order.ts';

const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const pagesOfTwo = async (after: string) => {
  const items = keys.filter((key) => key > after).slice(0, 2);
  return { items, end: items.at(-1) ?? after };
};
const later = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('pages in order', () => {
  it('moves past a page only when all pages before it have ended', async () => {
    const progress = new PagesInOrder('', pagesOfTwo);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const seen: string[] = [];
    const reached: string[] = [];
    await progress.work(
      2,
      async (items) => {
        seen.push(items.join(''));
        if (items[0] === 'c') await held;
        if (items[0] === 'g') release();
        await later();
      },
      async () => void reached.push(progress.reached),
    );
    expect(seen).toEqual(['ab', 'cd', 'ef', 'gh']);
    expect(reached.slice(0, 2)).toEqual(['b', 'b']);
    expect(reached.at(-1)).toBe('h');
  });

  it('begins where an earlier attempt ended', async () => {
    const seen: string[] = [];
    const progress = new PagesInOrder('e', pagesOfTwo);
    await progress.work(
      2,
      async (items) => void seen.push(...items),
      async () => {},
    );
    expect([seen, progress.reached]).toEqual([['f', 'g', 'h'], 'h']);
  });

  it('begins no page after an error, and does not move past the page that did not end', async () => {
    const seen: string[] = [];
    const progress = new PagesInOrder('', pagesOfTwo);
    const working = progress.work(
      2,
      async (items) => {
        seen.push(items.join(''));
        if (items[0] === 'c') throw new Error('the database is away');
        await later();
        await later();
      },
      async () => {},
    );
    await expect(working).rejects.toThrow('the database is away');
    expect([seen, progress.reached]).toEqual([['ab', 'cd'], 'b']);
  });
});
