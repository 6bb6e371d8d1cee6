import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  levelOf,
  rankOf,
  riskLevels,
  riskOf,
  riskOfPermission,
} from '../../../src/contexts/extensions/domain/permission-risk.ts';

describe('the risk of a permission', () => {
  it.each([
    ['storage', 'low'],
    ['activeTab', 'low'],
    ['contextMenus', 'low'],
    ['notifications', 'low'],
    ['tabs', 'medium'],
    ['history', 'medium'],
    ['somethingNobodyHasHeardOf', 'medium'],
    ['', 'medium'],
    ['https://mail.example.com/*', 'medium'],
    ['*://*.example.com/*', 'medium'],
    ['http://localhost:8080/*', 'medium'],
    ['<all_urls>', 'high'],
    ['*://*/*', 'high'],
    ['https://*/*', 'high'],
    ['HTTPS://*/', 'high'],
    ['*://*.com/*', 'high'],
    ['https://*.co.uk/*', 'high'],
    ['file:///*', 'high'],
    ['cookies', 'high'],
    ['debugger', 'high'],
    ['nativeMessaging', 'high'],
    ['webRequest', 'high'],
    [' webRequest ', 'high'],
    ['management', 'high'],
    ['proxy', 'high'],
  ] as const)('%j is %s', (permission, level) => expect(riskOfPermission(permission)).toBe(level));
});

describe('the risk of an extension', () => {
  it('is low without any permission, and that of the riskiest one otherwise', () => {
    expect([
      riskOf([]),
      riskOf(['storage']),
      riskOf(['storage', 'tabs']),
      riskOf(['tabs', 'cookies', 'storage']),
    ]).toEqual(['low', 'low', 'medium', 'high']);
  });

  it('is the highest of each installation if there are several', () => {
    const permissions = fc.array(
      fc.oneof(fc.constantFrom('storage', 'tabs', 'cookies', '<all_urls>', 'https://a.example/*'), fc.string()),
    );
    fc.assert(
      fc.property(
        permissions,
        permissions,
        (a, b) => rankOf(riskOf([...a, ...b])) === Math.max(rankOf(riskOf(a)), rankOf(riskOf(b))),
      ),
    );
  });

  it('has a rank that corresponds to the level', () =>
    expect(riskLevels.map((level) => levelOf(rankOf(level)))).toEqual(riskLevels));
});
