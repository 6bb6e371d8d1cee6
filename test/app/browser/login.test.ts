import { generate } from 'otplib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';
import { recoverOrgAdminAsOperator } from '../../../src/app/cli/organization-commands.ts';
import { PASSWORD, startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { startOpenIdProvider } from '../../dsl/openid-provider.ts';
import { newOrganization } from '../../dsl/organization.ts';
import { orgSecondFactorOf } from '../../dsl/org-second-factor.ts';
import { startSamlIdentityProvider } from '../../dsl/saml-identity-provider.ts';
import { findChromium, launchChromium, openPage, type WatchedPage } from './chromium.ts';
import { CONTRASTS } from './contrasts.ts';
import { asOwner, newOwner } from './owner.ts';

const chromiumPath = findChromium();

describe.skipIf(chromiumPath === undefined)(
  `the sign-in page in Chromium${chromiumPath === undefined ? ' (skipped: none is installed here)' : ''}`,
  () => {
    let app: TestApp;
    let acme: TestTenant;
    let browser: Browser;
    let person: WatchedPage;
    let page: Page;
    beforeAll(async () => {
      [app, browser] = await Promise.all([startApp({ devMode: true }), launchChromium(chromiumPath!)]);
      acme = await app.newTenant({ name: 'Acme' });
      // With a second tenant, none is the default.
      await app.newTenant({ name: 'Globex' });
    });
    afterAll(async () => {
      await browser.close();
      await app.close();
    });
    beforeEach(async () => {
      person = await openPage(browser);
      ({ page } = person);
    });
    afterEach(async () => {
      const { complaints } = person;
      await person.close();
      expect(complaints).toEqual([]);
    });

    const open = (tenantId: TenantId = acme.tenantId) => page.goto(`${app.url}/login?tenant_id=${tenantId}`);
    /** Finds a field by its visible label. */
    const field = (label: string) => page.getByLabel(label, { exact: true }).and(page.locator('input:visible'));
    async function signIn(email: string, password: string): Promise<void> {
      await field('E-mail').fill(email);
      await field('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    }
    const failure = () => page.getByRole('alert').textContent();
    async function expectSignedIn(email: string, role: string): Promise<void> {
      await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
      expect(await page.locator('#who-email').textContent()).toBe(email);
      expect(await page.locator('#who-role').textContent()).toBe(role);
      expect(page.url()).not.toMatch(/code|token/i);
      expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage, document.cookie])')).toBe('[{},{},""]');
    }

    it('says so in an installation without a tenant, also at the address of the service', async () => {
      const fresh = await startApp();
      try {
        await page.goto(fresh.url);
        await page.getByRole('heading', { name: 'Not set up yet' }).waitFor();
        expect(page.url()).toBe(`${fresh.url}/login`);
        expect(await page.locator('#screen-setup').textContent()).toContain('castellan tenant create');
      } finally {
        await fresh.close();
      }
    });

    it('signs an admin in with e-mail and password by keyboard only, shows who is signed in, and signs out', async () => {
      await open();
      await page.locator('#email:focus').waitFor();
      await page.keyboard.type(acme.email);
      await page.keyboard.press('Tab');
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('Enter');
      await expectSignedIn(acme.email, 'Super administrator');
      const ended = page.waitForResponse((answer) => answer.url().endsWith('/api/v1/auth/logout'));
      await page.getByRole('button', { name: 'Sign out' }).click();
      expect((await ended).status()).toBe(200);
      await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    });

    it('is recognized where an admin signed in before, whatever attempts unknown clients made meanwhile', async () => {
      const owner = await newOwner(app);
      await open(owner.tenantId);
      await signIn(owner.email, PASSWORD);
      await expectSignedIn(owner.email, 'Super administrator');
      // From the same address, which uses up its attempts without the browser's cookie.
      for (let n = 0; n < 12; n += 1)
        await app.anonymous.post('/api/v1/auth/login', {
          email: owner.email,
          password: 'Wrong-Horse-7!',
          tenantId: owner.tenantId,
        });
      expect(
        (
          await app.anonymous.post('/api/v1/auth/login', {
            email: owner.email,
            password: PASSWORD,
            tenantId: owner.tenantId,
          })
        ).status,
      ).toBe(401);
      await open(owner.tenantId);
      await signIn(owner.email, PASSWORD);
      await expectSignedIn(owner.email, 'Super administrator');
    });

    it('explains errors in plain words, and moves the focus to the field to correct', async () => {
      await open();
      await signIn(acme.email, 'Wrong-Horse-7!');
      expect(await failure()).toBe('This e-mail and password do not match. Check both and try again.');
      await page.locator('#password:focus').waitFor();
      expect(await field('Password').getAttribute('aria-invalid')).toBe('true');
      expect(await field('Password').inputValue()).toBe('');
      await signIn(acme.email, PASSWORD);
      await expectSignedIn(acme.email, 'Super administrator');
    });

    it('asks for the tenant if nothing names it', async () => {
      await page.goto(`${app.url}/login`);
      await field('Tenant ID').fill('acme');
      await signIn(acme.email, PASSWORD);
      expect(await failure()).toContain('This is not a tenant ID');
      await field('Tenant ID').fill(acme.tenantId.toUpperCase());
      await signIn(acme.email, PASSWORD);
      await expectSignedIn(acme.email, 'Super administrator');
    });

    it('asks for a new password if it must be changed, and signs in with the new one', async () => {
      const { tenantId, email } = await newOwner(app, { mustChangePassword: true });
      await open(tenantId);
      await signIn(email, PASSWORD);
      await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
      await field('New password').fill('Another-Horse-8!');
      await field('New password again').fill('Another-Horse-9!');
      await page.getByRole('button', { name: 'Change password' }).click();
      expect(await failure()).toBe('The two passwords differ.');
      await field('New password again').fill('Another-Horse-8!');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
      await page.getByText('The password was changed. Sign in with it.').waitFor();
      await signIn(email, 'Another-Horse-8!');
      await expectSignedIn(email, 'Super administrator');
    });

    it('asks for the second factor if there is one, and accepts a code of the app or a backup code', async () => {
      const owner = await newOwner(app);
      const admin = await asOwner(app, owner);
      const { secret } = (await admin.post('/api/v1/admin/mfa/setup')).body as { secret: string };
      const codeIn = (seconds: number) => generate({ secret, epoch: Math.floor(Date.now() / 1000) + seconds });
      const enabled = await admin.post('/api/v1/admin/mfa/setup/verify', { code: await codeIn(0) });
      expect(enabled.status).toBe(200);
      await open(owner.tenantId);
      await signIn(owner.email, PASSWORD);
      await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
      await page.locator('#code:focus').waitFor();
      await field('Code from your authenticator app').fill(await codeIn(-3_600));
      await page.keyboard.press('Enter');
      await page.getByText('This code is not right').waitFor();
      // A clock may be half a minute ahead; the current code was used to turn the factor on.
      await field('Code from your authenticator app').fill(await codeIn(30));
      await page.keyboard.press('Enter');
      await expectSignedIn(owner.email, 'Super administrator');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await signIn(owner.email, PASSWORD);
      await page.getByRole('button', { name: 'Use a backup code instead' }).click();
      await field('Backup code').fill(enabled.body.backupCodes[0] as string);
      await page.getByRole('button', { name: 'Confirm' }).click();
      await expectSignedIn(owner.email, 'Super administrator');
    });

    it("signs an organization's admin in, with the e-mail first", async () => {
      const { email, password } = await newOrganization(app);
      await page.goto(`${app.url}/login`);
      await page.getByRole('button', { name: 'I administer an organization' }).click();
      await field('E-mail').fill(email);
      await page.getByRole('button', { name: 'Continue' }).click();
      await field('Password').fill(password);
      await page.getByRole('button', { name: 'Continue' }).click();
      await expectSignedIn(email, 'Organization owner');
    });

    it("asks an organization's admin for their second factor, and for a new password if theirs is temporary", async () => {
      const north = await newOrganization(app);
      const { backupCodes } = await orgSecondFactorOf(north);
      const begin = async (password: string) => {
        await field('E-mail').fill(north.email);
        if (!(await field('Password').isVisible())) await page.getByRole('button', { name: 'Continue' }).click();
        await field('Password').fill(password);
        await page.getByRole('button', { name: 'Continue' }).click();
      };
      await page.goto(`${app.url}/login`);
      await page.getByRole('button', { name: 'I administer an organization' }).click();
      await begin(north.password);
      await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
      await page.getByRole('button', { name: 'Start again' }).click();
      await page.getByRole('heading', { name: 'Sign in to an organization' }).waitFor();
      await begin(north.password);
      await page.getByRole('button', { name: 'Use a backup code instead' }).click();
      await field('Backup code').fill(backupCodes[0]!);
      await page.getByRole('button', { name: 'Confirm' }).click();
      await expectSignedIn(north.email, 'Organization owner');
      const { password } = await recoverOrgAdminAsOperator(app.services, north);
      await page.goto(`${app.url}/login`);
      await page.getByRole('button', { name: 'I administer an organization' }).click();
      await begin(password);
      await field('New password').fill('Another-Horse-8!');
      await field('New password again').fill('Another-Horse-8!');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('The password was changed. Sign in with it.').waitFor();
      await begin('Another-Horse-8!');
      await expectSignedIn(north.email, 'Organization owner');
    });

    it('goes to the SAML provider and returns signed in, or with the reason of a refusal', async () => {
      const owner = await newOwner(app);
      const provider = await startSamlIdentityProvider();
      const config = {
        protocol: 'saml',
        idpEntityId: provider.entityId,
        idpSsoUrl: provider.ssoUrl,
        idpCertificate: provider.pair.certificatePem,
      };
      expect((await (await asOwner(app, owner)).post('/api/v1/admin/sso-configs', config)).status).toBe(201);
      provider.signsIn('stranger@elsewhere.example');
      await open(owner.tenantId);
      await page.getByRole('link', { name: 'Sign in with 127.0.0.1' }).click();
      await page.getByText('there is no administrator account with your e-mail address').waitFor();
      provider.signsIn(owner.email);
      await page.getByRole('link', { name: 'Sign in with 127.0.0.1' }).click();
      await expectSignedIn(owner.email, 'Super administrator');
      await provider.close();
    });

    it('goes to the OpenID Connect provider and returns with the reason of a refusal, or signed in', async () => {
      const owner = await newOwner(app);
      const provider = await startOpenIdProvider({ redirectUris: [`${app.url}/api/v1/auth/sso/callback`] });
      const { issuer: issuerUrl, clientId, clientSecret } = provider;
      expect(
        (await (await asOwner(app, owner)).post('/api/v1/admin/sso-configs', { issuerUrl, clientId, clientSecret }))
          .status,
      ).toBe(201);
      provider.signsIn(undefined);
      await open(owner.tenantId);
      await page.getByRole('link', { name: 'Sign in with 127.0.0.1' }).click();
      await page.getByText('The identity provider did not let you in.').waitFor();
      provider.signsIn({ email: owner.email });
      await page.getByRole('link', { name: 'Sign in with 127.0.0.1' }).click();
      await expectSignedIn(owner.email, 'Super administrator');
      await provider.close();
    });

    it("sends an organization's admin to its provider by their e-mail, and accepts the code on their return", async () => {
      const organization = await newOrganization(app, 'North MSSP', app.url);
      const provider = await startOpenIdProvider({ redirectUris: [`${app.url}/api/v1/org/auth/sso/callback`] });
      const { issuer: issuerUrl, clientId, clientSecret } = provider;
      expect(
        (await organization.write('POST', '/api/v1/org/sso-configs', { issuerUrl, clientId, clientSecret })).status,
      ).toBe(201);
      await app.settled();
      provider.signsIn({ email: organization.email });
      await page.goto(`${app.url}/login`);
      await page.getByRole('button', { name: 'I administer an organization' }).click();
      await field('E-mail').fill(organization.email);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText(`The organization “${organization.slug}” signs in people with this e-mail`).waitFor();
      await page.getByRole('button', { name: 'Use a password instead' }).click();
      await field('Password').fill(organization.password);
      await field('E-mail').fill(organization.email);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('link', { name: 'Go to the identity provider' }).click();
      await expectSignedIn(organization.email, 'Organization owner');

      // Through a link that did not begin at the page: a confirmation is needed before the sign-in.
      await page.goto(`${app.url}/api/v1/org/auth/sso/login?slug=${organization.slug}`);
      await page.getByRole('heading', { name: 'Did you begin this sign-in?' }).waitFor();
      await page.getByRole('button', { name: 'Yes, sign me in' }).click();
      await expectSignedIn(organization.email, 'Organization owner');
      await provider.close();
    });

    it("offers an organization's admin the provider where a password is not the way in", async () => {
      const organization = await newOrganization(app, 'West MSSP', app.url);
      const provider = await startOpenIdProvider({ redirectUris: [`${app.url}/api/v1/org/auth/sso/callback`] });
      const { issuer: issuerUrl, clientId, clientSecret } = provider;
      const { write, email, password } = organization;
      expect((await write('POST', '/api/v1/org/sso-configs', { issuerUrl, clientId, clientSecret })).status).toBe(201);
      expect((await write('PUT', '/api/v1/org/sso-configs/require', { requireSso: true })).status).toBe(200);
      await app.settled();
      provider.signsIn({ email });
      await page.goto(`${app.url}/login`);
      await page.getByRole('button', { name: 'I administer an organization' }).click();
      await field('E-mail').fill(email);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('button', { name: 'Use a password instead' }).click();
      await field('Password').fill(password);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('Your organization signs in through its identity provider only.').waitFor();
      expect(await field('Password').count()).toBe(0);
      expect(await page.getByRole('button', { name: 'Use a password instead' }).count()).toBe(0);
      await page.getByRole('link', { name: 'Go to the identity provider' }).click();
      await expectSignedIn(email, 'Organization owner');
      await provider.close();
    });

    it('shows why single sign-on failed, and removes the parameters from the address', async () => {
      await page.goto(`${app.url}/login?org_sso_error=account_not_found`);
      expect(await failure()).toContain('there is no administrator account with your e-mail address');
      expect(page.url()).toBe(`${app.url}/login`);
      await page.goto(`${app.url}/login?org_sso_code=no-such-code`);
      await page.getByRole('button', { name: 'Yes, sign me in' }).click();
      await page.getByText('used already or took too long').waitFor();
      expect(page.url()).toBe(`${app.url}/login`);
    });

    it('may load nothing from other hosts, and the browser reports an attempt', async () => {
      const { page: tampered, complaints, close } = await openPage(browser);
      await tampered.goto(`${app.url}/login`);
      for (const script of [
        "document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: 'http://127.0.0.1:9/x.css' }))",
        "document.body.append(Object.assign(document.createElement('img'), { src: 'http://127.0.0.1:9/x.png' }))",
        "fetch('http://127.0.0.1:9/').catch(() => undefined)",
      ]) {
        await tampered.evaluate(script);
      }
      await expect.poll(() => complaints.filter((complaint) => complaint.includes('policy violated'))).toHaveLength(3);
      await expect(tampered.evaluate("document.body.innerHTML = '<b>markup</b>'")).rejects.toThrow('TrustedHTML');
      await close();
    });

    it('is accessible: one heading of the first rank, a language, a title, and a label for every field', async () => {
      await open();
      await page.locator('#email:focus').waitFor();
      const found = (await page.evaluate(`({
      lang: document.documentElement.lang,
      title: document.title,
      h1: document.querySelectorAll('h1').length,
      unlabelled: [...document.querySelectorAll('input')].filter((input) => input.labels.length === 0 && !input.ariaLabel).map(({ id }) => id),
      unnamed: [...document.querySelectorAll('button, a')].filter((element) => element.textContent.trim() === '').length,
      withoutAlt: [...document.images].filter((image) => !image.hasAttribute('alt')).length,
      ids: [...document.querySelectorAll('[id]')].length - new Set([...document.querySelectorAll('[id]')].map(({ id }) => id)).size,
      dangling: [...document.querySelectorAll('[aria-describedby], [aria-labelledby]')].flatMap((element) => (element.getAttribute('aria-describedby') ?? element.getAttribute('aria-labelledby')).split(' ')).filter((id) => !document.getElementById(id)),
    })`)) as Record<string, unknown>;
      expect(found).toEqual({
        lang: 'en',
        title: 'Sign in · Castellan',
        h1: 1,
        unlabelled: [],
        unnamed: 0,
        withoutAlt: 0,
        ids: 0,
        dangling: [],
      });
    });

    it.each(['light', 'dark'] as const)('has enough contrast in a %s scheme (WCAG 2.2, 1.4.3)', async (scheme) => {
      await person.close();
      person = await openPage(browser, scheme);
      ({ page } = person);
      await open();
      await signIn(acme.email, 'Wrong-Horse-7!');
      await failure();
      const weak = (await page.evaluate(CONTRASTS)) as { text: string; ratio: number }[];
      expect(weak.length).toBeGreaterThan(5);
      expect(weak.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
    });
  },
);
