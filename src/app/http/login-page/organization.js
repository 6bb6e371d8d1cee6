import { ask, succeeded } from './server.js';
import { element, fail, whenSubmitted } from './screens.js';
import { next, ORGANIZATIONS } from './steps.js';
import { canReturn, leavingAddress } from './sso-return.js';
import { MUST_USE_PROVIDER, refusal } from './words.js';

/** First the e-mail: it decides whether a password is asked for here or the browser goes to the identity provider. */
export function offerOrganizationSignIn() {
  const passwordField = element('org-password-field');
  const password = element('org-password');
  element('org-email').addEventListener('input', () => {
    element('org-sso').hidden = true;
    passwordField.hidden = true;
    password.required = false;
    password.value = '';
  });
  element('org-use-password').addEventListener('click', usePassword);
  element('org-sso-go').addEventListener('click', async (event) => {
    event.preventDefault();
    location.assign(await leavingAddress(element('org-sso-go').href));
  });

  whenSubmitted(element('organization-form'), async (fields) => {
    const email = fields.get('email').trim();
    if (passwordField.hidden) return discover(email);
    const answer = await ask('POST', '/api/v1/org/auth/login', {
      withCookies: true,
      body: { email, password: password.value },
    });
    password.value = '';
    if (succeeded(answer)) return next({ ...ORGANIZATIONS, email }, answer.body);
    if (answer.status === 403 && answer.body.error === 'sso required' && (await goesToProvider(email)))
      return fail(MUST_USE_PROVIDER);
    fail(refusal(answer, 'The sign-in was refused.'), password);
  });

  const find = (email) => ask('POST', '/api/v1/org/auth/sso/discover', { body: { email } });
  const providerIn = (answer) =>
    succeeded(answer) && answer.body.ssoAvailable && canReturn() && /^https?:\/\//.test(answer.body.loginUrl ?? '')
      ? answer.body.loginUrl
      : undefined;

  /** After a password that the organization does not accept. */
  async function goesToProvider(email) {
    const loginUrl = providerIn(await find(email));
    if (loginUrl) offerProvider(loginUrl, true);
    return loginUrl !== undefined;
  }

  async function discover(email) {
    const answer = await find(email);
    // Typed on in the meantime: this answer is about another e-mail.
    if (element('org-email').value.trim() !== email) return;
    const loginUrl = providerIn(answer);
    if (loginUrl) return offerProvider(loginUrl);
    if (!succeeded(answer) && answer.status !== 404)
      return fail(refusal(answer, 'This e-mail cannot be used.'), element('org-email'));
    usePassword();
  }

  /** Whose provider it is, is said before the browser goes there: an e-mail's domain may be named by an organization that is not its own. */
  function offerProvider(loginUrl, isOnlyWay = false) {
    const slug = new URL(loginUrl).searchParams.get('slug') ?? '';
    element('org-sso-name').textContent =
      `The organization “${slug}” signs in people with this e-mail at its identity provider.`;
    element('org-sso-go').href = loginUrl;
    element('org-sso').hidden = false;
    passwordField.hidden = true;
    password.required = false;
    element('org-use-password').hidden = isOnlyWay;
    element('org-sso-go').focus();
  }

  function usePassword() {
    element('org-sso').hidden = true;
    passwordField.hidden = false;
    password.required = true;
    password.focus();
  }
}
