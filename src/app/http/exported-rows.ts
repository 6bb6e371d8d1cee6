import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';

/** Streams rows as CSV. Cells that a spreadsheet would take for a formula are escaped. */
export function asCsv(rows: AsyncIterable<object>, columns: readonly string[]): Readable {
  const written = stringify({ header: true, columns: [...columns], escape_formulas: true });
  // An error of the source breaks the response off, so that no client takes a truncated file for a complete one.
  pipeline(Readable.from(rows), written, () => undefined);
  return written;
}

/** Streams rows as one JSON array. */
export const asJsonArray = (rows: AsyncIterable<object>): Readable => Readable.from(elements(rows));

async function* elements(rows: AsyncIterable<object>): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of rows) {
    yield before + JSON.stringify(row);
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}
