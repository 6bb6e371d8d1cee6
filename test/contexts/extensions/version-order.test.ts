import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions, newestVersion } from '../../../src/contexts/extensions/domain/version-order.ts';

describe('versions of extensions', () => {
  it.each([
    ['1.9', '1.10'],
    ['1.0', '1.0.1'],
    ['9.9.9.9', '10'],
    ['2', '2.0.0.1'],
    ['1.2b1', '1.2'],
    ['1.2a3', '1.2b1'],
    ['1.2.3-rc1', '1.2.3'],
    ['99999999999999999999998', '99999999999999999999999'],
    ['', '0.1'],
    ['1.0', '1.00'],
  ])('%s comes before %s', (older, newer) => {
    expect([
      compareVersions(older, newer) < 0,
      compareVersions(newer, older) > 0,
      newestVersion([older, newer]),
      newestVersion([newer, older]),
    ]).toEqual([true, true, newer, newer]);
  });

  it('have a total order, whatever their form', () => {
    const version = fc.oneof(
      fc.string(),
      fc
        .array(fc.oneof(fc.nat().map(String), fc.constantFrom('0', '00', '1b', 'b1', '')), { maxLength: 4 })
        .map((parts) => parts.join('.')),
    );
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0);
        expect(compareVersions(a, b) === 0).toBe(a === b);
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it('have no newest one if there is none', () => expect(newestVersion([])).toBeUndefined());
});
