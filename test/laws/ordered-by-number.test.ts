import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * `select position::text … order by position` sorts texts: PostgreSQL takes the name of an output column first, so 1000
 * comes before 999. The order has to name the table's column: `order by audit_log.position`.
 */
const CAST = /\b(\w+)::text\b(?!\s*(?:as\b|\)|[=<>|]))/g;

function sortedAsText(sql: string): string[] {
  const [head = ''] = /^[\s\S]*?\b(?:from|order by)\b/i.exec(sql) ?? [];
  const cast = new Set([...head.matchAll(CAST)].map(([, column]) => column!));
  const orders = [...sql.matchAll(/\border by ([^)`]*?)(?:\blimit\b|\boffset\b|\bfor update\b|$|\))/gi)];
  const named = orders.flatMap(([, order]) => order!.split(',').map((each) => each.trim().split(/\s/)[0]!));
  return named.filter((column) => cast.has(column));
}

const statementsIn = (source: string): string[] =>
  [...source.matchAll(/`([^`]*)`|'((?:[^'\\\n]|\\.)*)'/g)].map(([, long, short]) => long ?? short!);

const sources = ['src', 'queries', 'commands', 'projections'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.join(folder, file)),
);

describe('statements that sort by a number', () => {
  it('recognizes one that would sort its text', () => {
    expect(sortedAsText('select position::text, id from log where id > 1 order by position limit 2')).toEqual([
      'position',
    ]);
    expect(sortedAsText('select stream, position::text from p order by stream, position')).toEqual(['position']);
    expect(sortedAsText('select position::text from log order by log.position')).toEqual([]);
    expect(sortedAsText('select position::text as at from log order by position')).toEqual([]);
    expect(sources.length).toBeGreaterThan(500);
  });

  it('never sort by the text of a column that they return', () => {
    const wrong = sources.flatMap((file) =>
      statementsIn(readFileSync(file, 'utf8')).flatMap((sql) =>
        sortedAsText(sql).map((column) => `${file}: ${column}`),
      ),
    );
    expect(wrong).toEqual([]);
  });
});
