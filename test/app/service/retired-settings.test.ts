import { describe, expect, it } from 'vitest';
import { settingWarnings } from '../../../src/app/config/setting-warnings.ts';

describe('a retired setting', () => {
  it('is reported with its replacement, and without its value', () => {
    expect(settingWarnings({ AUTO_ENROLL_SECRET: 'a-secret-of-the-fleet' })).toEqual([
      expect.stringMatching(/^AUTO_ENROLL_SECRET .*agent-secret/),
    ]);
    expect(settingWarnings({ AUTO_ENROLL_SECRET: 'a-secret-of-the-fleet' }).join()).not.toContain('a-secret');
  });

  it('is not mentioned if it is not set', () => {
    expect([settingWarnings({}), settingWarnings({ AUTO_ENROLL_SECRET: '' })]).toEqual([[], []]);
  });
});
