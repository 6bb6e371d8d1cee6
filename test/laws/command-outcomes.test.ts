import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const sources = ['src', 'commands', 'queries', 'projections'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

/** A call whose value nobody takes: it begins a statement. */
const DROPPED = /[;{}]\s*(?:\/\/[^\n]*\n\s*)*(?:await|void)\s+[\w.#]*\bexecutor\.execute(?:All)?\(/;

/** A command that was refused, or whose store was away, returns its failure. Whoever drops it takes it for done. */
it('nobody drops the outcome of a command', () => {
  expect(sources.length).toBeGreaterThan(500);
  for (const dropped of ['{\n  await executor.execute(a);', ';\n  void this.#ports.executor.execute(a);'])
    expect(DROPPED.test(dropped)).toBe(true);
  expect(DROPPED.test('orThrow(\n  await executor.execute(a));')).toBe(false);
  expect(sources.filter((path) => DROPPED.test(readFileSync(path, 'utf8')))).toEqual([]);
});
