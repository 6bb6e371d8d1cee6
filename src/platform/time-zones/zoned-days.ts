const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Offsets of time zones, in use and since 1972, are whole multiples of this. */
export const QUARTER_MS = 15 * 60_000;

/** The start of the quarter of an hour that a moment lies in. Both RFC 3339 in UTC. */
export const quarterOf = (moment: string): string =>
  new Date(Math.floor(Date.parse(moment) / QUARTER_MS) * QUARTER_MS).toISOString();

/** Calendar days of one time zone (an IANA name). Days are `YYYY-MM-DD`, moments epoch milliseconds. */
export class ZonedDays {
  readonly zone: string;
  readonly #format: Intl.DateTimeFormat | undefined;

  constructor(zone: string) {
    this.zone = zone;
    const fields = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    this.#format =
      zone === 'UTC' ? undefined : new Intl.DateTimeFormat('en-CA', { ...fields, timeZone: zone, calendar: 'iso8601' });
  }

  /** The day that a moment lies in. */
  dayOf(epochMs: number): string {
    if (!this.#format) return new Date(epochMs).toISOString().slice(0, 10);
    const part = Object.fromEntries(this.#format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
    return `${part['year']}-${part['month']}-${part['day']}`;
  }

  /**
   * The first moment of a day. Searches for it, because midnight does not exist on days on which clocks go forward
   * then. A day that a zone skipped begins with the next one.
   */
  startOf(day: string): number {
    const midnight = Date.parse(day);
    if (!this.#format) return midnight;
    let [before, from] = [midnight - 16 * HOUR_MS, midnight + 16 * HOUR_MS];
    while (from - before > QUARTER_MS) {
      const middle = Math.floor((before + from) / 2 / QUARTER_MS) * QUARTER_MS;
      if (this.dayOf(middle) >= day) from = middle;
      else before = middle;
    }
    return from;
  }

  /** The first moment after a day. */
  endOf(day: string): number {
    return this.startOf(nextDay(day));
  }
}

export const nextDay = (day: string): string => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
