import { describe, expect, it } from 'vitest';
import { parseAsOf } from '../../../src/app/cli/projections.ts';

describe('the moment of a rebuild', () => {
  it.each([
    ['17', { position: 17n }],
    ['2026-11-30T23:59:59Z', { time: Date.UTC(2026, 10, 30, 23, 59, 59) }],
    ['2026-11-30T23:59:59.5+02:00', { time: Date.UTC(2026, 10, 30, 21, 59, 59, 500) }],
  ])('is a position or a time with its offset: %s', (text, asOf) => {
    expect(parseAsOf(text)).toEqual(asOf);
  });

  it.each([
    '2026-11-31T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-11-30T24:01:00Z',
    '2026-11-30',
    '30 Nov 2026',
    '-1',
    '',
  ])('is refused if there is no such time: %s', (text) => {
    expect(() => parseAsOf(text)).toThrow('--as-of: must be a position or an RFC 3339 time');
  });
});
