import { beforeEach, describe, expect, it } from 'vitest';
import { logsOutAtProvider, ssoOwner, startsOnPage, type SsoOwner } from '../../../dsl/sso-owner.ts';
import { hostileSso } from '../../../dsl/hostile-sso.ts';

const sso = hostileSso();

describe.each(['tenant', 'organization'] as const)('the audit log of a %s has a sign-in that', (kind) => {
  let owner: SsoOwner;
  beforeEach(async () => {
    owner = await ssoOwner(sso.app, sso.provider, kind);
    sso.provider.behave({ claims: { email: owner.email, sid: 's-1' } });
  });

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
