import { describe, expect, it } from 'vitest';
import { digestOfClientSecret, type ScimClient } from '../../../src/contexts/scim/domain/clients.ts';
import { RefusedScimClients } from '../../../src/contexts/scim/refused-scim-clients.ts';
import { temporarilyUnavailable } from '../../../src/platform/kernel/failure.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { TENANT } from '../../dsl/given.ts';

const SECRET = 'a-secret-that-has-ended';
const client: ScimClient = {
  clientId: '66666666-6666-4666-8666-666666666661',
  name: 'Okta',
  scopes: ['scim:read'],
  profile: 'okta',
  secrets: [],
  removedSecrets: [{ secretId: 'removed', secretDigest: digestOfClientSecret(SECRET), expiresAt: null }],
};
const actor = { kind: 'system', id: null, ip: '192.0.2.7' } as const;

/** Commands respond as these do, one after the other. */
function recorder(...outcomes: (() => unknown)[]) {
  const executed: unknown[] = [];
  const execute = async (_command: unknown, input: unknown) => {
    executed.push(input);
    return outcomes.shift()!();
  };
  const clients = new RefusedScimClients({ executor: { execute } as never, log: newLogger('silent') });
  const note = (presented = SECRET) => clients.note({ tenantId: TENANT, client, presented, actor });
  return { executed, clients, note };
}
const silentFor = (milliseconds: number) => () => ({ result: { silentUntil: Date.now() + milliseconds } });

describe('the refusals of SCIM clients', () => {
  it('are recorded with the reason and without what was presented', async () => {
    const { executed, clients, note } = recorder(silentFor(60_000), silentFor(60_000));
    note();
    note('a guess');
    await clients.settled();
    expect(executed).toEqual([
      { clientId: client.clientId, reason: 'removed_secret', secretId: 'removed' },
      { clientId: client.clientId, reason: 'wrong_secret', secretId: null },
    ]);
  });

  it('cost one command for each reason until the log may have another', async () => {
    const { executed, clients, note } = recorder(silentFor(60_000), silentFor(-1), silentFor(60_000));
    for (let each = 0; each < 100; each += 1) note();
    await clients.settled();
    for (let each = 0; each < 100; each += 1) note();
    await clients.settled();
    expect(executed).toHaveLength(1);
    note('a guess');
    await clients.settled();
    note('another guess');
    await clients.settled();
    expect(executed).toHaveLength(3);
  });

  it.each([
    ['a failure', () => temporarilyUnavailable()],
    [
      'an error',
      () => {
        throw new Error('no database');
      },
    ],
  ])('are tried again after %s', async (_what, outcome) => {
    const { executed, clients, note } = recorder(outcome, silentFor(60_000));
    note();
    await clients.settled();
    note();
    note();
    await clients.settled();
    expect(executed).toHaveLength(2);
  });
});
