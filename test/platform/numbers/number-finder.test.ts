import { beforeEach, describe, expect, it } from 'vitest';
import type { HeldNumbers } from '../../../src/platform/numbers/held-numbers.ts';
import { NumberFinder } from '../../../src/platform/numbers/number-finder.ts';
import { TENANT } from '../../dsl/given.ts';

const KIND = 'seat';
const upTo = (granted: number, everGranted = granted) => ({ granted, everGranted });
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** The claims, and a read side with their state at its last catch-up. */
class World {
  readonly held = new Set<number>();
  shown = new Set<number>();
  /** Numbers that the read side lacks permanently. */
  readonly damaged = new Set<number>();
  isProjecting = true;
  claimsAsked = 0;
  searches = 0;
  beforeCatchUp: () => Promise<void> = async () => undefined;

  readonly finder = new NumberFinder(this.#claims(), {
    heldAmong: async (_, numbers) => {
      this.searches += 1;
      return new Set(numbers.filter((number) => this.shown.has(number) && !this.damaged.has(number)));
    },
    catchUp: async () => {
      await this.beforeCatchUp();
      if (this.isProjecting) this.show();
      return this.isProjecting;
    },
  });

  show(): void {
    this.shown = new Set(this.held);
  }

  fill(to: number): void {
    for (const number of range(1, to)) this.held.add(number);
    this.show();
  }

  one(granted: number, everGranted?: number): Promise<number | undefined> {
    return this.finder.one(TENANT, KIND, upTo(granted, everGranted));
  }

  /** Claims like an append: undefined if the number is held. */
  claim(number: number | undefined): number | undefined {
    if (number === undefined || this.held.has(number)) return undefined;
    this.held.add(number);
    return number;
  }

  #claims(): HeldNumbers {
    return {
      heldAmong: async (_, numbers) => {
        this.claimsAsked += numbers.length;
        return new Set(numbers.filter((number) => this.held.has(number)));
      },
    };
  }
}

describe('a number finder', () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });

  it('reads no claim while there are free numbers', async () => {
    expect(await world.one(2_000)).toBeGreaterThan(0);
    expect(world.claimsAsked).toBe(0);
  });

  it('reports that nothing is free without reading a claim, once the read side has caught up', async () => {
    world.fill(2_000);
    expect(await world.one(2_000)).toBeUndefined();
    expect(world.claimsAsked).toBe(0);
  });

  it('shares one search among concurrent callers', async () => {
    world.fill(2_000);
    const found = await Promise.all(range(1, 500).map(() => world.one(2_000)));
    expect(found.every((number) => number === undefined)).toBe(true);
    expect(world.searches).toBeLessThan(20);
  });

  it('asks the read side once more for each refusal after the first', async () => {
    world.fill(2_000);
    await world.one(2_000);
    world.searches = 0;
    expect(await world.one(2_000)).toBeUndefined();
    expect(world.searches).toBe(1);
    world.held.delete(7);
    expect(await world.one(2_000)).toBe(7);
    world.held.add(7);
    expect(await world.one(2_000)).toBeUndefined();
  });

  it('offers each of them another number if there are enough', async () => {
    world.fill(1_900);
    const found = await Promise.all(range(1, 100).map(() => world.one(2_000)));
    expect(new Set(found).size).toBe(100);
    expect(found.every((number) => number! > 1_900)).toBe(true);
  });

  it('finds a number that was just released, which the read side still shows as held', async () => {
    world.fill(2_000);
    world.held.delete(1_234);
    expect(await world.one(2_000)).toBe(1_234);
  });

  it('finds a number that was released during the search of an earlier caller', async () => {
    world.fill(10);
    let passed = () => undefined as void;
    const isPassing = new Promise<void>((resolve) => (passed = resolve));
    let release = () => undefined as void;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    // The earlier search has seen everything before the number is released.
    const show = world.show.bind(world);
    world.show = () => undefined;
    world.beforeCatchUp = async () => {
      world.beforeCatchUp = async () => void (world.show = show);
      passed();
      await isReleased;
    };
    const earlier = world.one(10);
    await isPassing;
    world.held.delete(7);
    const later = world.one(10);
    release();
    expect(await earlier).toBeUndefined();
    expect(await later).toBe(7);
  });

  it('finds a number again that was offered but not claimed', async () => {
    world.fill(9);
    expect(await world.one(10)).toBe(10);
    expect(await world.one(10)).toBe(10);
  });

  it('searches the claims while the read side cannot catch up, and is as exact', async () => {
    world.fill(2_000);
    world.isProjecting = false;
    expect(await world.one(2_000)).toBeUndefined();
    expect(world.claimsAsked).toBeGreaterThanOrEqual(2_000);
    world.held.delete(1_999);
    expect(await world.one(2_000)).toBe(1_999);
  });

  it('searches the claims if the read side is unavailable', async () => {
    world.fill(20);
    world.held.delete(3);
    world.beforeCatchUp = () => Promise.reject(new Error('no connection'));
    expect(await world.one(20)).toBe(3);
  });

  it('does not trust a read side that lacks numbers that are claimed', async () => {
    world.fill(20);
    world.damaged.add(5);
    // A number that it wrongly shows as free is tried once, and its refused claim ends the attempts.
    expect(world.claim(await world.one(20))).toBeUndefined();
    expect(await world.one(20)).toBeUndefined();
    world.held.delete(6);
    expect(await world.one(20)).toBe(6);
  });

  it('counts numbers above a limit that was lowered by their current state, not by the projected one', async () => {
    for (const number of [8, 9]) world.held.add(number);
    const found: number[] = [];
    for (let number = await world.one(5, 10); number !== undefined; number = await world.one(5, 10))
      found.push(world.claim(number)!);
    expect(found.sort()).toEqual([1, 2, 3]);
  });

  it('fills a limit exactly, whatever the concurrency and the lag of the read side', async () => {
    world.fill(30);
    const callers = range(1, 64).map(async () => {
      for (;;) {
        const number = await world.one(40);
        if (number === undefined) return undefined;
        if (world.claim(number) !== undefined) return number;
      }
    });
    const won = (await Promise.all(callers)).filter((number) => number !== undefined);
    expect(won.sort()).toEqual(range(31, 40));
  });

  it('fails the callers of a failed search, and serves the next one', async () => {
    world.isProjecting = false;
    world.fill(3);
    const { heldAmong } = { heldAmong: world.held.has };
    world.held.has = () => {
      throw new Error('the store is away');
    };
    await expect(Promise.all([world.one(3), world.one(3)])).rejects.toThrow('the store is away');
    world.held.has = heldAmong;
    world.held.delete(2);
    expect(await world.one(3)).toBe(2);
  });

  it('gives concurrent callers of several numbers what is free, each number to one of them if there are enough', async () => {
    world.fill(990);
    const [some, others] = await Promise.all(
      [4, 6].map((most) => world.finder.several(TENANT, KIND, upTo(1_000), most)),
    );
    expect([...some!, ...others!].sort((a, b) => a - b)).toEqual(range(991, 1_000));
    expect(await world.finder.several(TENANT, KIND, upTo(1_000), 50)).toHaveLength(10);
  });
});
