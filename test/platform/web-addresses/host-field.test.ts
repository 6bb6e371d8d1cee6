import { describe, expect, it } from 'vitest';
import { hostField } from '../../../src/platform/web-addresses/host-field.ts';

const kept = (text: unknown) => hostField().safeParse(text).data;

describe('a host field', () => {
  it('is stored normalized', () => {
    expect(kept(' EXAMPLE.com. ')).toBe('example.com');
    expect(kept('Bücher.example')).toBe('xn--bcher-kva.example');
    expect(kept(kept('Bücher.example'))).toBe('xn--bcher-kva.example');
  });

  it('accepts internal hosts and addresses', () => {
    expect(kept('intranet')).toBe('intranet');
    expect(kept('wiki.corp.local')).toBe('wiki.corp.local');
    expect(kept('10.1.2.3')).toBe('10.1.2.3');
  });

  it('accepts hosts below a public suffix, and never the suffix itself', () => {
    expect(kept('example.co.uk')).toBe('example.co.uk');
    expect(kept('co.uk')).toBeUndefined();
    expect(kept('com')).toBeUndefined();
  });

  it('rejects URLs, patterns, other spellings of addresses, and other types', () => {
    for (const wrong of [
      '',
      ' ',
      'a b',
      'https://example.com',
      'example.com/login',
      'example.com:8443',
      'me@example.com',
      '*.example.com',
      'example..com',
      '0x7f.1',
      '1.2',
      7,
      null,
      ['example.com'],
      'x'.repeat(5_000),
    ]) {
      expect([wrong, kept(wrong)]).toEqual([wrong, undefined]);
    }
  });
});
