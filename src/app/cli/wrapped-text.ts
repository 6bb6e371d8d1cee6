/** Colours of a terminal take no room. */
// oxlint-disable-next-line no-control-regex -- the escape character is what colours begin with
const COLOURS = /\u001b\[[\d;]*m/g;

const widthOf = (text: string): number => text.replaceAll(COLOURS, '').length;

/**
 * Breaks lines between words, so that none is wider than `columns`. A longer word, such as a key, stays whole: it has to
 * be copied. Continued lines are indented as far as the first word of the line, and by two more.
 */
export function wrapped(text: string, columns: number | undefined): string {
  if (!columns) return text;
  return text
    .split('\n')
    .map((line) => wrappedLine(line, columns))
    .join('\n');
}

function wrappedLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const indent = `${/^ */.exec(line)![0]}  `;
  const lines: string[] = [];
  let current = '';
  for (const piece of line.match(/ *[^ ]+/g) ?? []) {
    if (current.trim() !== '' && widthOf(current) + widthOf(piece) > columns) {
      lines.push(current);
      current = indent + piece.trimStart();
    } else current += piece;
  }
  return [...lines, current].join('\n');
}

/** Rows of text under each other, each column as wide as its widest cell. */
export function alignedRows(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}
