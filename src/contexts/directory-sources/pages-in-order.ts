import { inParallel } from '../../platform/kernel/in-parallel.ts';

/** A page that is being worked on. */
interface OpenPage<Item> {
  readonly items: readonly Item[];
  /** The last key of the page. */
  readonly end: string;
}

/**
 * Works on pages in the order of their keys and lets them end in any order. `reached` is the end of the last page before
 * which all others have ended: what lies behind it needs no second look.
 */
export class PagesInOrder<Item> {
  readonly #pageAfter: (key: string) => Promise<OpenPage<Item>>;
  readonly #open: OpenPage<Item>[] = [];
  #last: Promise<OpenPage<Item>>;
  readonly #ended = new Set<OpenPage<Item>>();
  #hasFailed = false;
  #reached: string;

  constructor(from: string, pageAfter: (key: string) => Promise<OpenPage<Item>>) {
    this.#reached = from;
    this.#pageAfter = pageAfter;
    this.#last = Promise.resolve({ items: [], end: from });
  }

  get reached(): string {
    return this.#reached;
  }

  /**
   * Works on all pages, so many at a time. After an error no further page is begun: what lies behind the first page that
   * did not end is worked on again by the next attempt.
   */
  async work(atOnce: number, onPage: (items: readonly Item[]) => Promise<void>, ended: () => Promise<void>) {
    await inParallel(atOnce, Array.from({ length: atOnce }), async () => {
      try {
        for (let page = await this.#next(); page.items.length > 0; page = await this.#next()) {
          await onPage(page.items);
          this.#end(page);
          await ended();
        }
      } catch (error) {
        this.#hasFailed = true;
        throw error;
      }
    });
  }

  /** Empty at the end, and after an error. Pages are read one after the other. */
  #next(): Promise<OpenPage<Item>> {
    this.#last = this.#last.then(async ({ end }) => {
      if (this.#hasFailed) return { items: [], end };
      const page = await this.#pageAfter(end);
      if (page.items.length > 0) this.#open.push(page);
      return page;
    });
    return this.#last;
  }

  #end(page: OpenPage<Item>): void {
    this.#ended.add(page);
    while (this.#open[0] && this.#ended.delete(this.#open[0])) this.#reached = this.#open.shift()!.end;
  }
}
