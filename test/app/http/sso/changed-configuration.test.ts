import { beforeEach, describe, expect, it } from 'vitest';
import { ssoOwner, startsOnPage, type SsoOwner } from '../../../dsl/sso-owner.ts';
import { hostileSso } from '../../../dsl/hostile-sso.ts';

const sso = hostileSso();

describe.each(['tenant', 'organization'] as const)('a sign-in of a %s whose configuration changes', (kind) => {
  let owner: SsoOwner;
  beforeEach(async () => {
    owner = await ssoOwner(sso.app, sso.provider, kind, { emailsVerified: true });
    sso.provider.behave({ claims: { email: owner.email, email_verified: undefined } });
  });

  const start = async () => {
    const started = await startsOnPage(sso.app, owner);
    sso.nonce = started.nonce;
    return started;
  };

  const disabledForAMoment = async () => {
    await owner.change({ isEnabled: false });
    await owner.change({ isEnabled: true });
  };
  const toAndFro = async () => {
    await owner.change({ clientId: 'other' });
    await owner.change({ clientId: sso.provider.clientId });
  };
  const changes: Record<string, () => Promise<unknown>> = {
    'is disabled': () => owner.change({ isEnabled: false }),
    'is disabled and enabled again': disabledForAMoment,
    'gets another client for a moment': toAndFro,
    'no longer vouches for e-mails': () => owner.change({ emailsVerified: false }),
    'gets other domains': () => owner.change({ emailDomains: ['other.example'] }),
    'gets one more domain': () => owner.change({ emailDomains: [owner.email.split('@')[1], 'other.example'] }),
    'gets another client': () => owner.change({ clientId: 'other' }),
    'is deleted': () => owner.remove(),
  };

  it.each(Object.entries(changes))('is refused if it %s before the callback', async (_what, change) => {
    const { callback } = await start();
    const { redeemed } = sso.provider;
    const before = redeemed.length;
    await change();
    const parameters = await callback();
    expect(parameters.get('sso_error') ?? parameters.get('org_sso_error')).toBe('sso_not_configured');
    expect(redeemed).toHaveLength(before);
    expect(await owner.refusals()).toEqual(['sso_not_configured: changed during the sign-in']);
  });

  it.each(Object.entries(changes))('is refused if it %s before the exchange', async (_what, change) => {
    const { callback, exchange } = await start();
    const parameters = await callback();
    await change();
    const { status, body } = await exchange(parameters);
    expect([status, body.code]).toEqual([401, 'invalid_exchange_code']);
    expect(await owner.refusals()).toEqual(['sso_not_configured: changed during the sign-in']);
  });

  it('goes on if only its name or the ways to the provider change', async () => {
    const { callback, exchange } = await start();
    await owner.change({ name: 'Other', scopes: 'openid email' });
    const parameters = await callback();
    await owner.change({ clientAuthentication: 'client_secret_post', clientSecret: 'new' });
    expect((await exchange(parameters)).status).toBe(200);
  });
});
