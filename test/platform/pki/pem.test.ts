import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstCertificate, pem, pemBlocks } from '../../../src/platform/pki/pem.ts';

const block = (body: string, label = 'CERTIFICATE'): string =>
  `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;

describe('PEM', () => {
  it('returns the original octets, in lines of at most 64', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 400 }), (octets) => {
        const text = pem('CERTIFICATE', Buffer.from(octets));
        expect(text.split('\n').every((line) => line.length <= 64)).toBe(true);
        expect(text).not.toContain('\n\n');
        expect(pemBlocks(text, 'CERTIFICATE')).toEqual([Buffer.from(octets)]);
      }),
    );
  });

  it('is found between other text and other labels, in order, with any line ends', () => {
    const text = `words\r\n${block('AQI=')}${block('BAU=', 'PRIVATE KEY')}words ${block('Aw==').replaceAll('\n', '\r\n')}`;
    expect(pemBlocks(text, 'CERTIFICATE')).toEqual([Buffer.of(1, 2), Buffer.of(3)]);
    expect(pemBlocks(text, 'X509 CRL')).toEqual([]);
    expect(firstCertificate(text)).toEqual(Buffer.of(1, 2));
  });

  it.each([
    ['spare bits', block('AR==')],
    ['missing padding', block('AQ')],
    ['padding in the middle', block('AQ==AQ==')],
    ['nothing inside', block('')],
    ['a stray character', block('AQ-=')],
    ['no end', '-----BEGIN CERTIFICATE-----\nAQ==\n'],
    ['the end of something else', '-----BEGIN CERTIFICATE-----\nAQ==\n-----END PRIVATE KEY-----\n'],
    ['headers', block('Proc-Type: 4,ENCRYPTED\n\nAQ==')],
  ])('with %s invalidates the whole text: no block is ever skipped', (_what, spoilt) => {
    expect(pemBlocks(spoilt, 'CERTIFICATE')).toBeUndefined();
    expect(pemBlocks(block('AQ==') + spoilt, 'CERTIFICATE')).toBeUndefined();
    expect(pemBlocks(spoilt + block('AQ=='), 'CERTIFICATE')).toBeUndefined();
  });
});
