/**
 * How a limit holds under races (choice OP-054). Everything that counts holds a number as a claim: an employee a seat
 * of the license, a record a slot. The append that creates it claims the number, the append that deletes it releases
 * the number. Two holders never have the same number, so there are never more holders than numbers. Creations do not
 * contend while there is room.
 */
export interface NumberLimit {
  /** Numbers from 1 to this one may be held now. */
  readonly granted: number;
  /** The highest limit so far: holders from that time may have higher numbers. */
  readonly everGranted: number;
}

/** Returns which of these numbers are held. */
export type HeldAmong = (numbers: readonly number[]) => Promise<ReadonlySet<number>>;

const LEAST_GUESSES = 8;
/** The licenses of most companies in one query. */
const FIRST_PAGE = 4_000;
const LARGEST_PAGE = 16_000;

/**
 * Returns up to `most` numbers that are not held; fewer only if there are no more. Most limits have room, so it guesses
 * first. If the guesses do not suffice, it checks every number once.
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

/** Like `freeNumbers`, for a limit that is probably used up: checks every number, without a guess. */
export async function scarceNumbers(
  limit: NumberLimit,
  most: number,
  heldAmong: HeldAmong,
  random: () => number = Math.random,
): Promise<number[]> {
  return searchAll(await usableNumbers(limit, heldAmong), most, heldAmong, random);
}

/** Starts at a random number, so that concurrent searches of several processes find different numbers. */
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
 * How many numbers, counted from 1, are usable: `granted`, unless the limit was lowered. Then it is the highest n with
 * n + (held numbers above n) <= granted. Numbers above n are not claimed, so the sum never exceeds `granted`.
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
