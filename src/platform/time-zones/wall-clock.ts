import { Temporal } from 'temporal-polyfill';

/**
 * The moment, in epoch milliseconds, at which clocks of a zone show a time (`HH:MM`) so many days after a day
 * (`YYYY-MM-DD`).
 *
 * RFC 5545 section 3.3.5: a time that clocks skip is read with the offset before the change, so it is as much later as
 * they skipped; of a time that they show twice, the first counts.
 */
export const momentOf = (zone: string, day: string, time: string, daysLater = 0): number =>
  Temporal.PlainDateTime.from(`${day}T${time}`)
    .add({ days: daysLater })
    .toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds;
