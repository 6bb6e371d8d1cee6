import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { refuseSsoSignIn } from '../../../../commands/sso/refuse-sso-sign-in.ts';
import { FailureError, temporarilyUnavailable } from '../../../../src/platform/kernel/failure.ts';
import { logoutToken } from '../../../dsl/logout-token.ts';
import { logsOutAtProvider, postsLogoutToken, ssoOwner, startsOnPage, type SsoOwner } from '../../../dsl/sso-owner.ts';
import { DatabaseTimeout } from '../../../../src/platform/database/unavailable.ts';
import { unavailableOnce } from '../../../dsl/unavailable-once.ts';
import { hostileSso } from '../../../dsl/hostile-sso.ts';

const sso = hostileSso();

describe.each(['tenant', 'organization'] as const)('the audit log of a %s has a sign-in that', (kind) => {
  let owner: SsoOwner;
  beforeEach(async () => {
    owner = await ssoOwner(sso.app, sso.provider, kind);
    sso.provider.behave({ claims: { email: owner.email, sid: 's-1' } });
  });
  afterEach(() => vi.restoreAllMocks());
  /** The log is away for the first entries. */
  const losesEntries = (times: number) => {
    const execute = sso.app.services.executor.execute.bind(sso.app.services.executor);
    let lost = 0;
    vi.spyOn(sso.app.services.executor, 'execute').mockImplementation(((...call: Parameters<typeof execute>) =>
      (call[0] as unknown) === refuseSsoSignIn && (lost += 1) <= times
        ? Promise.resolve(temporarilyUnavailable())
        : execute(...call)) as never);
  };

  const toExchange = async () => {
    const { callback, exchange, nonce: own } = await startsOnPage(sso.app, owner);
    sso.nonce = own;
    const parameters = await callback();
    return (verifier?: string) => exchange(parameters, verifier);
  };
  const refused = async (answer: Promise<{ status: number; body: { code?: string } }>) => {
    const { status, body } = await answer;
    expect([status, body.code]).toEqual([401, 'invalid_exchange_code']);
  };

  it.each([{ sub: 'ann' }, { sid: 's-1' }])('a logout at the provider ends before its exchange: %j', async (about) => {
    const exchange = await toExchange();
    await logsOutAtProvider(sso.app, owner, sso.provider, about);
    expect(await owner.refusals()).toEqual(['invalid_assertion: logged_out']);
    await refused(exchange());
    expect(await owner.refusals()).toEqual(['invalid_state: unknown or used', 'invalid_assertion: logged_out']);
  });

  it('a logout ends whose entry can be written only at its second time', async () => {
    const exchange = await toExchange();
    const token = logoutToken(sso.provider, { sub: 'ann' });
    losesEntries(1);
    expect((await postsLogoutToken(sso.app, owner, token)).status).toBe(503);
    await refused(exchange());
    expect((await postsLogoutToken(sso.app, owner, token)).status).toBe(200);
    expect((await postsLogoutToken(sso.app, owner, token)).status).toBe(400);
    await logsOutAtProvider(sso.app, owner, sso.provider, { sub: 'ann' });
    expect(await owner.refusals()).toEqual(['invalid_assertion: logged_out', 'invalid_state: unknown or used']);
  });

  it('a logout ends of which only some entries could be written at its first time', async () => {
    await toExchange();
    await toExchange();
    const token = logoutToken(sso.provider, { sub: 'ann' });
    const { signIn } = sso.app.services.ssoRefusals;
    let written = 0;
    vi.spyOn(sso.app.services.ssoRefusals, 'signIn').mockImplementation(async function (this: never, ...call) {
      if ((written += 1) === 2) throw new FailureError(temporarilyUnavailable());
      return signIn.apply(this, call);
    });
    expect((await postsLogoutToken(sso.app, owner, token)).status).toBe(503);
    expect((await postsLogoutToken(sso.app, owner, token)).status).toBe(200);
    expect(await owner.refusals()).toEqual(['invalid_assertion: logged_out', 'invalid_assertion: logged_out']);
  });

  it.each(['before', 'after'])('could not be exchanged, as something was away %s the session began', async (when) => {
    const exchange = await toExchange();
    const { executor, oneTimeTokens, database, store } = sso.app.services;
    const before = await store.head();
    const restore =
      when === 'before'
        ? unavailableOnce(executor, 'StartSession')
        : (() => {
            const spy = vi.spyOn(oneTimeTokens, 'finish').mockRejectedValueOnce(new DatabaseTimeout(1));
            return () => spy.mockRestore();
          })();
    expect((await exchange()).status).toBe(503);
    restore();
    const { status, body } = await exchange();
    expect([status, body.accessToken]).toEqual([200, expect.any(String)]);
    const started = await database.owner.query(`select 1 from events where type = 'SessionStarted' and position > $1`, [
      String(before),
    ]);
    expect(started.rowCount).toBe(1);
    await refused(exchange());
  });

  it('was refused gets 503 instead if the entry cannot be written', async () => {
    const exchange = await toExchange();
    losesEntries(1);
    const { status, headers } = await exchange('x'.repeat(43));
    expect([status, headers.get('retry-after')]).toEqual([503, expect.any(String)]);
    await refused(exchange());
  });

  it('a logout here ends before its exchange', async () => {
    const exchange = await toExchange();
    const { body } = await (await toExchange())();
    expect((await sso.app.as(body.accessToken).post(`${owner.routes}/logout`)).status).toBe(200);
    expect(await owner.refusals()).toEqual(['invalid_assertion: logged_out']);
    await refused(exchange());
  });

  it('somebody else tries to exchange, or that is exchanged twice', async () => {
    const stolen = await toExchange();
    await refused(stolen('x'.repeat(43)));
    await refused(stolen());
    const used = await toExchange();
    expect((await used()).status).toBe(200);
    await refused(used());
    const unknown = 'invalid_state: unknown or used';
    expect(await owner.refusals()).toEqual([unknown, unknown, 'invalid_state: code of another page']);
  });

  it('a logout finds after it was used or refused no second time', async () => {
    const [used, stolen] = [await toExchange(), await toExchange()];
    expect((await used()).status).toBe(200);
    await refused(stolen('x'.repeat(43)));
    await logsOutAtProvider(sso.app, owner, sso.provider, { sub: 'ann' });
    expect(await owner.refusals()).toEqual(['invalid_state: code of another page']);
  });

  it('names the person, and no code that was invented', async () => {
    const exchange = await toExchange();
    await refused(exchange('x'.repeat(43)));
    await sso.app.settled();
    const { rows } = await sso.app.services.database.owner.query<{ data: { subjectId: string; configId: string } }>(
      `select data from events where type = 'SsoSignInRefused' order by position desc limit 1`,
    );
    expect(rows[0]!.data).toMatchObject({ subjectId: expect.any(String), configId: expect.any(String) });
    const count = async () =>
      (await sso.app.services.database.owner.query(`select 1 from events where type = 'SsoSignInRefused'`)).rowCount;
    const before = await count();
    await refused(sso.app.anonymous.post(`${owner.routes}/exchange`, { code: 'invented', verifier: 'v' }));
    expect(await count()).toBe(before);
  });
});
