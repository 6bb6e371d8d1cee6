import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';

/** A file of rows, written as they are read. A cell that a spreadsheet would take for a formula is written as text. */
export function asCsv(rows: AsyncIterable<object>, columns: readonly string[]): Readable {
  const written = stringify({ header: true, columns: [...columns], escape_formulas: true });
  // A source that fails ends the answer too, in the middle: nobody takes half a file for a whole one.
  pipeline(Readable.from(rows), written, () => undefined);
  return written;
}

/** One array, written row by row. */
export const asJsonArray = (rows: AsyncIterable<object>): Readable => Readable.from(elements(rows));

async function* elements(rows: AsyncIterable<object>): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of rows) {
    yield before + JSON.stringify(row);
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}
