import { describe, expect, it } from 'vitest';
import { retiredSettings } from '../../../src/app/config/config.ts';

describe('a variable that is not read any more', () => {
  it('is named with what to do instead, and without its value', () => {
    expect(retiredSettings({ AUTO_ENROLL_SECRET: 'a-secret-of-the-fleet' })).toEqual([
      expect.stringMatching(/^AUTO_ENROLL_SECRET .*agent-secret/),
    ]);
    expect(retiredSettings({ AUTO_ENROLL_SECRET: 'a-secret-of-the-fleet' }).join()).not.toContain('a-secret');
  });

  it('is not mentioned where it is not set', () => {
    expect([retiredSettings({}), retiredSettings({ AUTO_ENROLL_SECRET: '' })]).toEqual([[], []]);
  });
});
