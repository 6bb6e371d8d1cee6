import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvRecords } from '../../../src/contexts/employees/csv.ts';

const read = (text: string) => [...csvRecords(text)];
const cells = (text: string) => read(text).map((record) => ('cells' in record ? record.cells : record));

describe('a CSV file', () => {
  it('is read as another program wrote it', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', ' ', ',', '"', '\n', '\r', 'é', '漢'), maxLength: 8 });
    const rows = fc
      .integer({ min: 2, max: 4 })
      .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1 }));
    fc.assert(
      fc.property(rows, fc.constantFrom('\n', '\r\n'), fc.boolean(), (written, record_delimiter, bom) => {
        expect(cells(stringify(written, { record_delimiter, bom, quoted_match: /[\r\n]/ }))).toEqual(written);
      }),
    );
  });

  it('has rows as a spreadsheet counts them, without blank ones', () => {
    expect(read('a,b\r\n\r\n1,2\n"x\ny",3\n4')).toEqual([
      { row: 1, cells: ['a', 'b'] },
      { row: 3, cells: ['1', '2'] },
      { row: 4, cells: ['x\ny', '3'] },
      { row: 5, cells: ['4'] },
    ]);
  });

  it.each([
    ['a quotation mark within a cell', 'a\nb"c\nd'],
    ['text after a closing one', 'a\n"b"c\nd'],
    ['one that is never closed', 'a\n"b\nd'],
  ])('reports a row with %s, and continues after it', (_what, text) => {
    expect(read(text)).toEqual([
      { row: 1, cells: ['a'] },
      { row: 2, broken: expect.any(String) },
      { row: 3, cells: ['d'] },
    ]);
  });

  it('is read to its end, whatever it contains', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'x'), maxLength: 60 }),
        (text) => read(text).length <= text.length + 1,
      ),
    );
  });

  it('without content has no rows', () => {
    expect([read(''), read('\ufeff'), read('\n\n')]).toEqual([[], [], []]);
  });
});
