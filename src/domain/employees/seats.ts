/**
 * How a license's user limit holds under races (choice OP-054): every employee holds a numbered seat as a claim, taken in
 * the append that creates the record and given up in the one that deletes it. Two can never hold the same seat, so there
 * are never more employees than seats, and creating one contends with nobody as long as there is room.
 *
 * Finding a free seat is the other half. It only has to be quick: whoever loses the seat to another looks again.
 */
export interface SeatLimit {
  /** What the license grants now. */
  readonly granted: number;
  /** The most that any license of the tenant ever granted: employees of those days may hold higher seats. */
  readonly everGranted: number;
}

type IsHeld = (seat: number) => Promise<boolean>;

const GUESSES = 8;
const PAGE = 1_000;

/** A seat that nobody held a moment ago, or undefined when there is none. */
export async function freeSeat(limit: SeatLimit, isHeld: IsHeld, random: () => number = Math.random): Promise<number | undefined> {
  const usable = await usableSeats(limit, isHeld);
  if (usable === 0) return undefined;
  const guesses = Array.from({ length: GUESSES }, () => 1 + Math.floor(random() * usable));
  return (await firstFree(guesses, isHeld)) ?? (await searchAll(usable, isHeld, random));
}

/** Nearly full: every seat once, from a random place on, so that racing searchers do not all find the same one. */
async function searchAll(usable: number, isHeld: IsHeld, random: () => number): Promise<number | undefined> {
  const start = Math.floor(random() * usable);
  for (let offset = 0; offset < usable; offset += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, usable - offset) }, (_, at) => 1 + ((start + offset + at) % usable));
    const free = await firstFree(page, isHeld);
    if (free !== undefined) return free;
  }
  return undefined;
}

async function firstFree(seats: readonly number[], isHeld: IsHeld): Promise<number | undefined> {
  const held = await Promise.all(seats.map(isHeld));
  return seats.find((_, at) => !held[at]);
}

/**
 * How many seats, counted from 1, may be taken: as many as are granted, unless a smaller license followed a larger one.
 * Then the highest n with n + (held seats above n) <= granted. Seats above n only ever become fewer, since nobody takes
 * one, so the sum never exceeds what is granted.
 */
async function usableSeats({ granted, everGranted }: SeatLimit, isHeld: IsHeld): Promise<number> {
  let usable = Math.max(granted, everGranted);
  let heldAbove = 0;
  while (usable > 0 && usable + heldAbove > granted) {
    const page = Array.from({ length: Math.min(PAGE, usable) }, (_, at) => usable - at);
    const held = await Promise.all(page.map(isHeld));
    for (let at = 0; at < page.length && usable + heldAbove > granted; at += 1) {
      if (held[at]) heldAbove += 1;
      usable -= 1;
    }
  }
  return usable;
}
