import { describe, expect, it } from 'vitest';
import { addressField, baseAddressField } from '../../../src/platform/web-addresses/address-field.ts';
import { ADDRESSES_WITH_CREDENTIALS, NO_ADDRESSES } from '../../dsl/hostile-addresses.ts';

const reasonsOf = (text: string, field = addressField()) =>
  field.safeParse(text).error?.issues.map(({ message }) => message);

describe('the field of a web address', () => {
  it.each([
    'https://a.example',
    'http://127.0.0.1:8080/x',
    'HTTPS://A.example/?q=1',
    'https://[2001:db8::1]:1/x',
    ' https://a.example ',
  ])('accepts %s', (text) => expect(addressField().parse(text)).toBe(text.trim()));

  it.each(NO_ADDRESSES)('refuses %j, with one reason', (text) => expect(reasonsOf(text)).toHaveLength(1));

  it.each(ADDRESSES_WITH_CREDENTIALS)('refuses %s', (text) => expect(reasonsOf(text)).toHaveLength(1));

  it('says what is wrong', () => {
    expect(reasonsOf('splunk.acme.example')).toEqual(['must be a web address, such as https://example.com']);
    expect(reasonsOf('https://user:pw@a.example/')).toEqual(['must contain no credentials']);
    expect(reasonsOf('https://a.example:0/')).toEqual(['must have a port from 1 to 65535']);
    expect(reasonsOf('https://a.example/#x')).toEqual(['must have no fragment']);
    expect(reasonsOf('https://a.example/#x?y', addressField({ fragment: true, query: false }))).toBeUndefined();
    expect(reasonsOf('https://a.example/?', baseAddressField())).toEqual(['must have no query']);
  });

  it('loses the slashes at the end of an address to which paths are appended', () => {
    expect(baseAddressField().parse('https://a.example/x//')).toBe('https://a.example/x');
  });

  it('does not run later rules on what is no address', () => {
    const later = addressField().refine((text) => new URL(text).host !== '');
    expect(() => later.safeParse('nope')).not.toThrow();
  });
});
