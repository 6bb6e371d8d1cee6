import { ask, succeeded } from './server.js';
import { begin } from './session.js';
import { element, fail, whenSubmitted } from './screens.js';
import { canReturn, leavingAddress } from './sso-return.js';
import { refusal } from './words.js';

/** First the e-mail: it decides whether a password is asked for here or the browser goes to the identity provider. */
export function offerOrganizationSignIn() {
  const passwordField = element('org-password-field');
  const password = element('org-password');
  element('org-email').addEventListener('input', () => {
    passwordField.hidden = true;
    password.required = false;
    password.value = '';
  });

  whenSubmitted(element('organization-form'), async (fields) => {
    const email = fields.get('email').trim();
    if (passwordField.hidden) return discover(email);
    const answer = await ask('POST', '/api/v1/org/auth/login', { body: { email, password: password.value } });
    password.value = '';
    if (succeeded(answer)) return begin(answer.body);
    fail(refusal(answer, 'The sign-in was refused.'), password);
  });

  async function discover(email) {
    const answer = await ask('POST', '/api/v1/org/auth/sso/discover', { body: { email } });
    const { ssoAvailable, loginUrl } = answer.body;
    if (succeeded(answer) && ssoAvailable && canReturn() && /^https?:\/\//.test(loginUrl ?? '')) return location.assign(await leavingAddress(loginUrl));
    if (!succeeded(answer) && answer.status !== 404) return fail(refusal(answer, 'This e-mail cannot be used.'), element('org-email'));
    passwordField.hidden = false;
    password.required = true;
    password.focus();
  }
}
