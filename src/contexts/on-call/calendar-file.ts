import type { OnCallCalendar } from '../../../queries/on-call/on-call-calendar.ts';

/** RFC 5545 section 3.1: octets of a line without its break. */
const MAX_OCTETS = 75;
const REFRESH = 'PT1H';

/**
 * The shifts as an iCalendar object (RFC 5545), with the properties of RFC 7986 that name it and say how often to read
 * it again. All times are in UTC, so no definition of a time zone can contradict that of the reader.
 */
export function calendarFile({ name, shifts }: OnCallCalendar, now: number): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Castellan//On-call//EN',
    'CALSCALE:GREGORIAN',
    `NAME:${text(name)}`,
    `X-WR-CALNAME:${text(name)}`,
    `REFRESH-INTERVAL;VALUE=DURATION:${REFRESH}`,
    ...shifts
      .filter(lastsASecond)
      .flatMap(({ scheduleId, scheduleName, displayName, startsAt, endsAt, isOverride }) => [
        'BEGIN:VEVENT',
        `UID:${scheduleId}-${Date.parse(startsAt)}@on-call.castellan`,
        `DTSTAMP:${utc(now)}`,
        `DTSTART:${utc(Date.parse(startsAt))}`,
        `DTEND:${utc(Date.parse(endsAt))}`,
        `SUMMARY:${text(`${scheduleName}: ${displayName ?? 'deleted account'}${isOverride ? ' (override)' : ''}`)}`,
        'TRANSP:TRANSPARENT',
        'END:VEVENT',
      ]),
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

/** An event must end after it starts, in whole seconds. */
const lastsASecond = ({ startsAt, endsAt }: { startsAt: string; endsAt: string }): boolean =>
  utc(Date.parse(startsAt)) !== utc(Date.parse(endsAt));

/** `20260105T090000Z`. RFC 5545 knows no fractions of a second. */
const utc = (epochMs: number): string => new Date(epochMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');

/** RFC 5545 section 3.3.11. Control characters have no place in a text. */
const text = (value: string): string =>
  value
    .replaceAll(/[\\;,]/g, String.raw`\$&`)
    .replaceAll(/\r\n|\r|\n/g, String.raw`\n`)
    // eslint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, '');

/** Long lines go on in the next one, after a space. No character is torn apart. */
function folded(line: string): string {
  let [result, octets] = ['', 0];
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > MAX_OCTETS) [result, octets] = [`${result}\r\n `, 1];
    result += character;
    octets += size;
  }
  return result;
}
