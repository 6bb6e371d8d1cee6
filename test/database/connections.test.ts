import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MOST_CONNECTIONS } from '../../src/database/connections.ts';

it('documents how many connections a process opens at most, by login and in all', () => {
  const guide = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  for (const [login, most] of Object.entries(MOST_CONNECTIONS)) expect(guide).toContain(`| ${login} | ${most} |`);
  expect(guide).toContain(`| together | ${Object.values(MOST_CONNECTIONS).reduce((sum, most) => sum + most)} |`);
});
