import ICAL from 'ical.js';
import { describe, expect, it } from 'vitest';
import { calendarFile } from '../../../src/contexts/on-call/calendar-file.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const shift = (over: object = {}) => ({
  scheduleId: '0198a000-0000-7000-8000-000000000001',
  scheduleName: 'Primary',
  adminUserId: '0198a000-0000-7000-8000-000000000002',
  email: 'ann@acme.example',
  displayName: 'Ann',
  startsAt: '2026-06-01T07:00:00.000Z',
  endsAt: '2026-06-08T07:00:00.000Z',
  isOverride: false,
  ...over,
});
const feed = (name: string, ...shifts: ReturnType<typeof shift>[]) => calendarFile({ name, shifts }, NOW);
const summaries = (text: string) =>
  new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent').map((event) => new ICAL.Event(event).summary);

describe('a calendar of shifts (RFC 5545)', () => {
  it('is written line by line', () => {
    expect(
      feed('Primary', shift(), shift({ startsAt: '2026-06-08T07:00:00.500Z', endsAt: '2026-06-08T07:00:00.900Z' })),
    ).toBe(
      [
        'BEGIN:VCALENDAR',
        'VERSION:2.0',
        'PRODID:-//Castellan//On-call//EN',
        'CALSCALE:GREGORIAN',
        'NAME:Primary',
        'X-WR-CALNAME:Primary',
        'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
        'BEGIN:VEVENT',
        'UID:0198a000-0000-7000-8000-000000000001-1780297200000@on-call.castellan',
        'DTSTAMP:20260601T120000Z',
        'DTSTART:20260601T070000Z',
        'DTEND:20260608T070000Z',
        'SUMMARY:Primary: Ann',
        'TRANSP:TRANSPARENT',
        'END:VEVENT',
        'END:VCALENDAR',
        '',
      ].join('\r\n'),
    );
  });

  it('carries every name through another parser, in lines of at most 75 octets', () => {
    for (const scheduleName of [
      String.raw`a;b,c\d\n"e":`,
      'two\r\nlines\rand\nmore',
      'END:VEVENT',
      'Bereitschaft für Zürich — 当番 '.repeat(9),
      '👩‍🚒'.repeat(40),
    ]) {
      const text = feed('Primary', shift({ scheduleName }));
      expect(summaries(text)).toEqual([`${scheduleName.replaceAll(/\r\n?/g, '\n')}: Ann`]);
      for (const line of text.split('\r\n')) {
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
        expect(line).not.toMatch(/[\r\n�]/);
      }
    }
  });

  it('says who stands in, and leaves out control characters and e-mail addresses', () => {
    const text = feed('Pri\u0000mary', shift({ displayName: null, isOverride: true, scheduleName: 'P\u0007' }));
    expect(summaries(text)).toEqual(['P: deleted account (override)']);
    for (const absent of ['acme', '\u0000', '\u0007']) expect(text).not.toContain(absent);
  });
});
