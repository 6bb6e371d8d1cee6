import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../../../src/app/compose/compose.ts';
import { tokenKeyGeneration } from '../../../../src/contexts/identity/token-key-generation.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { PASSWORD, startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { cheapPasswords } from '../../../dsl/cheap-passwords.ts';
import { login } from '../../../dsl/second-factor.ts';

const REFRESH = '/api/v1/auth/refresh';

describe('tokens', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  const refresh = async (refreshToken: string) => app.anonymous.post(REFRESH, { refreshToken });
  const signIn = async () => (await login(app, acme, PASSWORD)).body as { accessToken: string; refreshToken: string };
  const liveOf = async (accessToken: string) => {
    const { sessionId } = (await app.services.accessTokens.verify(accessToken))!;
    const { rows } = await app.services.database.owner.query<{ live: boolean }>(
      'select spent_at is null as live from refresh_tokens where session_id = $1',
      [sessionId],
    );
    return rows.filter(({ live }) => live).length;
  };

  it('for refresh have one successor, also for concurrent and repeated requests', async () => {
    const { accessToken, refreshToken } = await signIn();
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refreshToken)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const successors = new Set(answers.map(({ body }) => body.refreshToken as string));
    expect([successors.size, await liveOf(accessToken)]).toEqual([1, 1]);
    const [successor] = successors;
    expect((await refresh(refreshToken)).body.refreshToken).toBe(successor);
    // Two tabs that continue with it at the same time stay in sync, too.
    const [left, right] = await Promise.all([refresh(successor!), refresh(successor!)]);
    expect([left.status, left.body.refreshToken]).toEqual([200, right.body.refreshToken]);
    expect(left.body.refreshToken).not.toBe(successor);
    // The first one is a copy by now.
    expect((await refresh(refreshToken)).status).toBe(401);
    expect((await refresh(left.body.refreshToken)).status).toBe(401);
  });

  it('for refresh cannot be predicted from those of another session', async () => {
    const [one, two] = [await signIn(), await signIn()];
    expect((await refresh(one.refreshToken)).body.refreshToken).not.toBe(
      (await refresh(two.refreshToken)).body.refreshToken,
    );
  });

  it('of a new signing key are accepted by the start of its generation, which later process starts do not move', async () => {
    const { owner } = app.services.database;
    const first = await tokenKeyGeneration(owner, 7);
    expect(Math.abs(first.since - Date.now())).toBeLessThan(60_000);
    await owner.query(
      `update token_key_generations set first_used_at = now() - interval '1 hour' where generation = 7`,
    );
    const again = await tokenKeyGeneration(owner, 7);
    expect(again.since).toBeLessThan(first.since - 3_500_000);
  });

  it('of the previous generation are accepted during a rotation, but not an hour later', async () => {
    const { owner, config } = app.services.database;
    const node = () =>
      compose(
        { ...app.config, role: 'api', tokenKeyGeneration: 2 },
        { database: config, project: false, log: newLogger('silent'), passwords: cheapPasswords() },
      );
    const me = (url: string) =>
      fetch(`${url}/api/v1/admin/me`, { headers: { authorization: `Bearer ${acme.token}` } }).then(
        ({ status }) => status,
      );
    const rotated = await node();
    expect(await me(rotated.addresses.http)).toBe(200);
    await rotated.stop();
    await owner.query(
      `update token_key_generations set first_used_at = now() - interval '1 hour' where generation = 2`,
    );
    const restarted = await node();
    expect(await me(restarted.addresses.http)).toBe(401);
    await restarted.stop();
  });
});
