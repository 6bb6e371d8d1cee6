/**
 * How a limit holds under races (choice OP-054): everything that counts holds a number as a claim (an employee a seat of the
 * license, a record a slot), taken in the append that creates it and released in the one that deletes it. Two never hold
 * the same number, so there are never more holders than numbers, and creating one contends with nobody while there is room.
 */
export interface NumberLimit {
  /** Numbers from 1 to this one may be held now. */
  readonly granted: number;
  /** The highest limit there ever was: holders of those days may have higher numbers. */
  readonly everGranted: number;
}

/** Which of these numbers are held. */
export type HeldAmong = (numbers: readonly number[]) => Promise<ReadonlySet<number>>;

const LEAST_GUESSES = 8;
const FIRST_PAGE = 1_000;
const LARGEST_PAGE = 16_000;

/**
 * Up to `most` numbers that nobody held a moment ago. Fewer only where there are no more. Most limits have room, so
 * it guesses first; where that does not suffice it looks at every number once.
 */
export async function freeNumbers(
  limit: NumberLimit,
  most: number,
  heldAmong: HeldAmong,
  random: () => number = Math.random,
): Promise<number[]> {
  const usable = await usableNumbers(limit, heldAmong);
  if (usable === 0) return [];
  const guesses = new Set(
    Array.from({ length: Math.max(LEAST_GUESSES, 2 * most) }, () => 1 + Math.floor(random() * usable)),
  );
  const guessed = await notHeld([...guesses], heldAmong);
  return guessed.length >= most ? guessed.slice(0, most) : searchAll(usable, most, heldAmong, random);
}

/** From a random place on, so that searches of several processes do not all find the same numbers. */
async function searchAll(usable: number, most: number, heldAmong: HeldAmong, random: () => number): Promise<number[]> {
  const start = Math.floor(random() * usable);
  const found: number[] = [];
  for (
    let offset = 0, size = FIRST_PAGE;
    offset < usable && found.length < most;
    size = Math.min(2 * size, LARGEST_PAGE)
  ) {
    const page = Array.from(
      { length: Math.min(size, usable - offset) },
      (_, at) => 1 + ((start + offset + at) % usable),
    );
    found.push(...(await notHeld(page, heldAmong)));
    offset += page.length;
  }
  return found.slice(0, most);
}

async function notHeld(numbers: readonly number[], heldAmong: HeldAmong): Promise<number[]> {
  const held = await heldAmong(numbers);
  return numbers.filter((number) => !held.has(number));
}

/**
 * How many numbers, counted from 1, may be taken: as many as are granted, unless a lower limit followed a higher one. Then
 * it is the highest n with n + (held numbers above n) <= granted. Nobody takes a number above n, so the sum never
 * exceeds what is granted.
 */
async function usableNumbers({ granted, everGranted }: NumberLimit, heldAmong: HeldAmong): Promise<number> {
  let usable = Math.max(granted, everGranted);
  let heldAbove = 0;
  for (let size = FIRST_PAGE; usable > 0 && usable + heldAbove > granted; size = Math.min(2 * size, LARGEST_PAGE)) {
    const page = Array.from({ length: Math.min(size, usable) }, (_, at) => usable - at);
    const held = await heldAmong(page);
    for (const number of page) {
      if (usable + heldAbove <= granted) break;
      if (held.has(number)) heldAbove += 1;
      usable -= 1;
    }
  }
  return usable;
}
