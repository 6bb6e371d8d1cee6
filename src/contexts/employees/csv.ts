/** One record of a file. `row` counts as a spreadsheet does: the header is row 1. */
export type CsvRecord =
  { readonly row: number; readonly cells: readonly string[] } | { readonly row: number; readonly broken: string };

const QUOTED = /"([^"]*(?:""[^"]*)*)"/y;
const PLAIN = /[^",\r\n]*/y;
const END_OF_RECORD = /\r\n|\n|\r|$/y;
const REST_OF_LINE = /[^\r\n]*/y;

/**
 * Parses comma-separated values (RFC 4180), with any line ending and an optional byte order mark. Yields a malformed
 * record as broken and continues at the next line. Blank lines are counted but not yielded.
 */
export function* csvRecords(file: string): Generator<CsvRecord> {
  const text = file.startsWith('\ufeff') ? file.slice(1) : file;
  let at = 0;
  for (let row = 1; at < text.length; row += 1) {
    const start = at;
    const cells = readCells();
    if (!cells) {
      at = start;
      take(REST_OF_LINE);
      take(END_OF_RECORD);
      yield { row, broken: 'has a misplaced or missing quotation mark' };
    } else if (cells.length > 1 || cells[0] !== '') {
      yield { row, cells };
    }
  }

  function readCells(): string[] | undefined {
    const cells: string[] = [];
    for (;;) {
      const quoted = take(QUOTED);
      cells.push(quoted ? quoted[1]!.replaceAll('""', '"') : take(PLAIN)![0]);
      if (text[at] === ',') at += 1;
      else return take(END_OF_RECORD) ? cells : undefined;
    }
  }

  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  }
}
