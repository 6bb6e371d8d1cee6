/**
 * A queue that is fair to keys: `shift` rotates over the keys, and is first-in-first-out within a key. A path of
 * several keys rotates on each level, e.g. over tenants, and over the addresses of one tenant.
 */
export class FairQueue<Item> {
  readonly #branches = new Map<string, FairQueue<Item>>();
  readonly #items: Item[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Items of a key, or of a path of keys. */
  sizeOf(key: string, ...rest: readonly string[]): number {
    const branch = this.#branches.get(key);
    const [next, ...further] = rest;
    return next === undefined ? (branch?.size ?? 0) : (branch?.sizeOf(next, ...further) ?? 0);
  }

  push(path: readonly string[], item: Item): void {
    this.#size += 1;
    const [key, ...rest] = path;
    if (key === undefined) return void this.#items.push(item);
    let branch = this.#branches.get(key);
    if (!branch) this.#branches.set(key, (branch = new FairQueue()));
    branch.push(rest, item);
  }

  /** Returns the next item of the first key in the rotation for which `may` returns true. */
  shift(may: (key: string) => boolean = () => true): Item | undefined {
    for (const [key, branch] of this.#branches) {
      if (!may(key)) continue;
      this.#size -= 1;
      const item = branch.shift();
      // Deleting and setting again makes this key the last of the rotation: a map keeps insertion order.
      this.#branches.delete(key);
      if (branch.size > 0) this.#branches.set(key, branch);
      return item;
    }
    const item = this.#items.shift();
    if (item !== undefined) this.#size -= 1;
    return item;
  }

  /** Returns false if the item is not in the queue. */
  remove(path: readonly string[], item: Item): boolean {
    const [key, ...rest] = path;
    const branch = key === undefined ? undefined : this.#branches.get(key);
    const removed = branch ? branch.remove(rest, item) : removeFrom(this.#items, item);
    if (removed) this.#size -= 1;
    if (branch?.size === 0) this.#branches.delete(key!);
    return removed;
  }
}

function removeFrom<Item>(items: Item[], item: Item): boolean {
  const at = items.indexOf(item);
  if (at >= 0) items.splice(at, 1);
  return at >= 0;
}
