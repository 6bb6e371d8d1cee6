import forge from 'node-forge';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DerError, SequenceReader, TAG, elements, readDer } from '../../../src/platform/pki/der-reader.ts';
import { readBoolean, readFlags, readText, readTime, readUnsigned } from '../../../src/platform/pki/der-values.ts';
import {
  bitString,
  boolean,
  embed,
  encode,
  explicit,
  unsignedInteger,
  octetString,
  sequence,
  time,
  utf8,
} from '../../../src/platform/pki/der.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const written = (bytes: string): string => encode(unsignedInteger(hex(bytes))).toString('hex');
const timeText = (epochMs: number): string => {
  const { tag, content } = readDer(encode(time(epochMs)));
  return `${tag.toString(16)} ${content.toString('latin1')}`;
};

describe('writing DER', () => {
  it('keeps a number with its high bit set positive', () => {
    expect(written('ff01')).toBe('020300ff01');
    expect(written('7f01')).toBe('02027f01');
  });

  it('writes numbers without leading zeros, and zero as one octet', () => {
    expect(written('000001')).toBe('020101');
    expect(written('0080')).toBe('02020080');
    expect(written('0000')).toBe('020100');
    expect(written('')).toBe('020100');
  });

  it('writes dates as UTCTime through 2049 and as GeneralizedTime from 2050', () => {
    expect(timeText(Date.UTC(2049, 11, 31, 23, 59, 59, 999))).toBe('17 491231235959Z');
    expect(timeText(Date.UTC(2050, 0, 1))).toBe('18 20500101000000Z');
    expect(timeText(Date.UTC(1950, 0, 1))).toBe('17 500101000000Z');
    expect(timeText(Date.UTC(9999, 11, 31, 23, 59, 59))).toBe('18 99991231235959Z');
  });

  it('rejects dates that no certificate can hold', () => {
    for (const date of [Date.UTC(1949, 11, 31), Date.UTC(10_000, 0, 1), NaN, Infinity])
      expect(() => time(date)).toThrow(RangeError);
  });

  it('records the number of unused bits in a bit string', () => {
    expect(encode(bitString(Uint8Array.of(0x06), 1)).toString('hex')).toBe('03020106');
  });

  it('embeds an encoded element unchanged, whatever its length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700 }), (bytes) => {
        const der = encode(explicit(3, sequence(octetString(bytes), boolean(true))));
        expect(encode(embed(readDer(der))).equals(der)).toBe(true);
      }),
    );
  });

  it('is read back by node-forge', () => {
    const der = encode(sequence(utf8('Käse'), unsignedInteger(hex('c0ffee')), octetString(Buffer.alloc(300, 7))));
    const { value } = forge.asn1.fromDer(der.toString('latin1'));
    const [text, number, octets] = value as forge.asn1.Asn1[];
    expect(Buffer.from(text?.value as string, 'latin1').toString('utf8')).toBe('Käse');
    expect(Buffer.from(number?.value as string, 'latin1').toString('hex')).toBe('00c0ffee');
    expect(octets?.value).toHaveLength(300);
  });
});

describe('reading DER', () => {
  it('returns what was written', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }), (values) => {
        const der = encode(sequence(...values.map(octetString)));
        const read = elements(readDer(der, TAG.sequence).content).map(({ content }) => content);
        expect(read.map((content) => content.toString('hex'))).toEqual(
          values.map((value) => Buffer.from(value).toString('hex')),
        );
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['a tag alone', '30'],
    ['a length that runs past the end', '3003 0201'],
    ['a length that is missing octets', '3082 01'],
    ['an indefinite length', '3080 0000'],
    ['a long length for a short value', '3081 01 05'],
    ['a long length with a leading zero', `308200 81 ${'00'.repeat(0x81)}`],
    ['a length of more than three octets', '3084 00000001 05'],
    ['octets after the end', '3000 00'],
    ['a tag of several octets', '3f81 01 00'],
    ['another tag than the one asked for', '3100'],
  ])('rejects %s', (_what, octets) => {
    expect(() => readDer(hex(octets), TAG.sequence)).toThrow(DerError);
  });

  it('rejects members that are missing, of another type, or too many', () => {
    const two = readDer(encode(sequence(unsignedInteger(hex('01')), unsignedInteger(hex('02')))));
    expect(() => new SequenceReader(two).take(TAG.octetString)).toThrow(DerError);
    expect(() => new SequenceReader(two).end()).toThrow(DerError);
    const none = new SequenceReader(readDer(hex('3000')));
    expect(() => none.takeAny()).toThrow(DerError);
    expect(none.takeIf(TAG.integer)).toBeUndefined();
  });

  it('accepts numbers in their only valid encoding', () => {
    expect(readUnsigned(readDer(hex('020300ff01')))).toBe('FF01');
    expect(readUnsigned(readDer(hex('020100')))).toBe('00');
    for (const octets of ['0200', '020180', '02020001', '0202007f'])
      expect(() => readUnsigned(readDer(hex(octets)))).toThrow(DerError);
  });

  it('accepts booleans that are all ones or all zeros', () => {
    expect(readBoolean(readDer(hex('0101ff')))).toBe(true);
    expect(readBoolean(readDer(hex('010100')))).toBe(false);
    for (const octets of ['0100', '010101', '0102ffff'])
      expect(() => readBoolean(readDer(hex(octets)))).toThrow(DerError);
  });

  it('reads flags by their number, missing ones as unset', () => {
    const flags = readFlags(readDer(hex('03020106')));
    expect([0, 5, 6, 7, 8, 40].map((bit) => flags(bit))).toEqual([false, true, true, false, false, false]);
    for (const octets of ['0300', '030108', '030101']) expect(() => readFlags(readDer(hex(octets)))).toThrow(DerError);
  });

  it('rejects text that is not UTF-8 rather than repairing it', () => {
    expect(readText(readDer(encode(utf8('Käse'))))).toBe('Käse');
    expect(() => readText(readDer(hex('0c02c328')))).toThrow(DerError);
    expect(() => readText(readDer(hex('1602c328')))).toThrow(DerError);
  });

  it('reads the dates that it writes', () => {
    const seconds = fc.integer({ min: Date.UTC(1950, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 });
    fc.assert(fc.property(seconds, (second) => readTime(readDer(encode(time(second * 1000)))) === second * 1000));
  });

  it.each([
    '17:2702290000Z',
    '17:270229000000Z',
    '17:271301000000Z',
    '17:270101240000Z',
    '17:270101000000+0000',
    '18:20500230000000Z',
    '18:20500101000000.5Z',
    '18:00500101000000Z',
    '04:270101000000Z',
  ])('rejects the date %s', (written) => {
    const [tag = '', text = ''] = written.split(/:(.*)/s);
    const der = Buffer.concat([Buffer.from([Number.parseInt(tag, 16), text.length]), Buffer.from(text)]);
    expect(() => readTime(readDer(der))).toThrow(DerError);
  });
});
