import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextDay, QUARTER_MS, quarterOf, ZonedDays } from '../../../src/platform/time-zones/zoned-days.ts';

const iso = (epochMs: number) => new Date(epochMs).toISOString();
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'];

describe('calendar days of a time zone', () => {
  it('cover every moment once, and begin at a quarter of an hour', () => {
    const zones = fc.constantFrom(...ZONES, 'Australia/Lord_Howe', 'Pacific/Chatham', 'Africa/Cairo');
    const moments = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2037, 0) });
    fc.assert(
      fc.property(zones, moments, (zone, moment) => {
        const days = new ZonedDays(zone);
        const day = days.dayOf(moment);
        const [start, end] = [days.startOf(day), days.endOf(day)];
        expect(start <= moment && moment < end).toBe(true);
        expect(end).toBe(days.startOf(nextDay(day)));
        expect([start % QUARTER_MS, days.dayOf(start), days.dayOf(start - 1) < day]).toEqual([0, day, true]);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
    ['Asia/Kathmandu', '2026-06-01', '2026-05-31T18:15:00.000Z', 24],
    // Clocks go forward at midnight: the day begins at one o'clock.
    ['Africa/Cairo', '2024-04-26', '2024-04-25T22:00:00.000Z', 23],
    ['UTC', '2026-06-01', '2026-06-01T00:00:00.000Z', 24],
  ])('of %s: %s begins at %s and has %i hours', (zone, day, start, hours) => {
    const days = new ZonedDays(zone);
    expect([iso(days.startOf(day)), (days.endOf(day) - days.startOf(day)) / 3_600_000]).toEqual([start, hours]);
  });

  it('consist of quarters', () => {
    expect([quarterOf('2026-06-01T12:14:59.999Z'), quarterOf('2026-06-01T12:15:00.000Z')]).toEqual([
      '2026-06-01T12:00:00.000Z',
      '2026-06-01T12:15:00.000Z',
    ]);
  });
});
