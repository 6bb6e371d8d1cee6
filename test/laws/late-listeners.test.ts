import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const sources = ['src', 'commands', 'queries', 'projections'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

/**
 * Events that happen once and may be over when somebody begins to wait for them. Whoever misses one waits for ever and
 * keeps what it holds: a slot, a lease, a timer. One module waits for each, and sees that it has already happened.
 */
const ONCE = [
  { wait: /addEventListener\(\s*'abort'/, only: 'src/platform/kernel/when-aborted.ts', instead: 'whenAborted' },
  {
    wait: /\braw\b(?:\.socket)?\s*\.(?:once|on)\(\s*'(?:close|finish)'/,
    only: 'src/app/http/when-response-closes.ts',
    instead: 'whenResponseCloses',
  },
];

it.each(ONCE)('who waits for what may be over uses $instead', ({ wait, only }) => {
  expect(sources.filter((path) => wait.test(readFileSync(path, 'utf8')))).toEqual([only]);
});
