import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { compose } from '../../../../src/app/compose/compose.ts';
import { tokenKeyGeneration } from '../../../../src/contexts/identity/token-key-generation.ts';
import { DatabaseTimeout } from '../../../../src/platform/database/unavailable.ts';
import { TooBusy } from '../../../../src/platform/fairness/fair-limiter.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { PASSWORD, startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { cheapPasswords } from '../../../dsl/cheap-passwords.ts';
import { login } from '../../../dsl/second-factor.ts';
import { unavailableOnce } from '../../../dsl/unavailable-once.ts';

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

  /** As if this much time had passed since the token was used. */
  const wait = (accessToken: string, interval = '1 hour') =>
    app.services.accessTokens
      .verify(accessToken)
      .then((claims) =>
        app.services.database.owner.query(
          'update refresh_tokens set spent_at = spent_at - $2::interval where session_id = $1',
          [claims!.sessionId, interval],
        ),
      );

  const AWAY = [new DatabaseTimeout(1), 503] as const;
  const TOO_MANY = [new TooBusy('reads', { isOwnShare: true }), 429] as const;

  /** The refresh uses the token, and then finds something away, or too much before it. */
  async function interruptedRefresh(refreshToken: string, [error, expected]: typeof AWAY | typeof TOO_MANY = AWAY) {
    const away = vi.spyOn(app.services.lookups, 'adminSession').mockRejectedValueOnce(error);
    const { status } = await refresh(refreshToken).finally(() => away.mockRestore());
    expect(status).toBe(expected);
    // It is given back after the response.
    const digest = createHash('sha256').update(refreshToken).digest();
    const { owner } = app.services.database;
    await expect
      .poll(() => owner.query('select 1 from refresh_tokens where digest = $1 and response_lost', [digest]))
      .toMatchObject({ rowCount: 1 });
  }

  it.each([
    ['lost to an outage', AWAY],
    ['that there were too many requests', TOO_MANY],
  ])('for refresh count until their successor is used, if the response was %s', async (_, reason) => {
    const { accessToken, refreshToken } = await signIn();
    await interruptedRefresh(refreshToken, reason);
    await wait(accessToken);
    // The retry meets the same.
    await interruptedRefresh(refreshToken, reason);
    await wait(accessToken);
    const { status, body } = await refresh(refreshToken);
    expect([status, await liveOf(accessToken)]).toEqual([200, 1]);
    // That response came: from now on it has the usual grace.
    expect((await refresh(refreshToken)).body.refreshToken).toBe(body.refreshToken);
    await wait(accessToken);
    expect((await refresh(refreshToken)).status).toBe(401);
    expect((await refresh(body.refreshToken)).status).toBe(401);
  });

  it('for refresh that are copies remain copies, whatever was lost to an outage', async () => {
    const used = await signIn();
    await interruptedRefresh(used.refreshToken);
    await wait(used.accessToken);
    const next = (await refresh(used.refreshToken)).body.refreshToken as string;
    expect((await refresh(next)).status).toBe(200);
    await interruptedCopy(used.refreshToken);
    expect((await refresh(used.refreshToken)).status).toBe(401);
    expect((await refresh(next)).status).toBe(401);

    const old = await signIn();
    expect((await refresh(old.refreshToken)).status).toBe(200);
    await wait(old.accessToken);
    await interruptedCopy(old.refreshToken);
    expect((await refresh(old.refreshToken)).status).toBe(401);
    expect((await app.as(old.accessToken).get('/api/v1/admin/me')).status).toBe(401);
  });

  /** The refresh finds that the token is a copy, and that it cannot end the session. */
  async function interruptedCopy(refreshToken: string) {
    const restore = unavailableOnce(app.services.executor, 'EndSession');
    expect((await refresh(refreshToken).finally(restore)).status).toBe(503);
  }

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
