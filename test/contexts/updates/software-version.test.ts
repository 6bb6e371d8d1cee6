import { describe, expect, it } from 'vitest';
import {
  isNewerThan,
  newestFirst,
  softwareVersion,
  versionInFileName,
} from '../../../src/contexts/updates/domain/software-version.ts';

describe('a software version', () => {
  it('has one spelling, and is nothing but a semantic version', () => {
    expect(['1.2.3', 'v1.2.3', ' 1.2.3-rc.1 '].map(softwareVersion)).toEqual(['1.2.3', '1.2.3', '1.2.3-rc.1']);
    const none = ['', '1', '1.2', '01.2.3', '1.2.3.4', 'latest', '1.2.3; rm -rf /', `1.2.3-${'a'.repeat(80)}`];
    for (const text of none) expect([text, softwareVersion(text)]).toEqual([text, undefined]);
  });

  it('is newer by precedence, not by text', () => {
    expect(isNewerThan('1.10.0', '1.9.0', null)).toBe(true);
    expect(isNewerThan('1.10.0', '1.9.0', '1.10.0')).toBe(false);
    expect(isNewerThan('1.0.0-rc.1', '1.0.0')).toBe(false);
    expect(isNewerThan('1.0.0+build.2', '1.0.0+build.1')).toBe(false);
  });

  it('is read from the name of a file, whatever its folders are called', () => {
    const names: readonly (readonly [string, string | undefined])[] = [
      ['castellan-1.4.0.tgz', '1.4.0'],
      ['castellan-v1.4.0.tar.gz', '1.4.0'],
      ['castellan-1.4.0-rc.1.tar.gz', '1.4.0-rc.1'],
      ['castellan_1.4.0', '1.4.0'],
      ['9.9.9/castellan.tgz', undefined],
      ['C:\\9.9.9\\castellan-1.4.0.zip', '1.4.0'],
      ['castellan.tgz', undefined],
    ];
    for (const [name, version] of names) expect([name, versionInFileName(name)]).toEqual([name, version]);
  });

  it('sorts newest first, with texts that are no versions at the end', () => {
    expect(['2.9.0', 'dev', '2.10.0', 'beta', '2.10.0-rc.1'].toSorted(newestFirst)).toEqual([
      '2.10.0',
      '2.10.0-rc.1',
      '2.9.0',
      'beta',
      'dev',
    ]);
  });
});
