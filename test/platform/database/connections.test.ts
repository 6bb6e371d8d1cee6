import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { connectionsOf, totalConnections } from '../../../src/platform/database/connections.ts';

describe('the connections of a process', () => {
  it.each(['all', 'api', 'projector', 'worker'] as const)('for %s are as many as the operations guide says', (role) => {
    const guide = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const [, postgres, redis] = new RegExp(`^\\| \`${role}\` \\| (\\d+) \\| (\\d+) \\|$`, 'm').exec(guide) ?? [];
    expect([Number(postgres), Number(redis)]).toEqual([
      totalConnections(connectionsOf(role, { redis: false })),
      totalConnections(connectionsOf(role, { redis: true })),
    ]);
  });
});
