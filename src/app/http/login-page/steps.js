import { ask, succeeded } from './server.js';
import { begin } from './session.js';
import { element, fail, forgetFailure, say, show, whenSubmitted } from './screens.js';
import { refusal } from './words.js';

/** Whose sign-in it is: where its steps are sent to, and the screen that it begins on. */
export const TENANTS = {
  verifyAt: '/api/v1/auth/mfa/verify',
  changeAt: '/api/v1/auth/change-password',
  screen: 'password',
  emailField: 'email',
};
export const ORGANIZATIONS = {
  verifyAt: '/api/v1/org/auth/mfa/verify',
  changeAt: '/api/v1/org/auth/change-password',
  screen: 'organization',
  emailField: 'org-email',
};

/** Between the steps of one sign-in: what the step before handed out. */
let challenge;

/** What follows the password: a second factor, and a password that has to be changed. */
export function offerFurtherSteps() {
  whenSubmitted(element('mfa-form'), async (fields) => {
    const byBackup = !element('backup-field').hidden;
    const field = element(byBackup ? 'backup-code' : 'code');
    const given = String(fields.get(field.name)).trim();
    if (!given)
      return fail(
        byBackup ? 'Enter one of your backup codes.' : 'Enter the six digits that your authenticator app shows.',
        field,
      );
    const { tenantId, mfaToken, verifyAt } = challenge;
    const answer = await ask('POST', verifyAt, {
      tenantId,
      withCookies: true,
      body: { mfaToken, [field.name]: given },
    });
    field.value = '';
    if (succeeded(answer)) return next(challenge, answer.body);
    if (isOver(answer)) return startAgain(answer);
    fail(refusal(answer, 'This code is not right, or was used before. Try the next one.'), field);
  });

  whenSubmitted(element('change-form'), async (fields) => {
    const newPassword = fields.get('newPassword');
    const confirmPassword = fields.get('confirmPassword');
    if (newPassword !== confirmPassword) return fail('The two passwords differ.', element('confirm-password'));
    const { tenantId, tempToken, email, changeAt, screen, emailField } = challenge;
    const answer = await ask('POST', changeAt, { tenantId, body: { tempToken, newPassword, confirmPassword } });
    if (isOver(answer)) return startAgain(answer);
    if (!succeeded(answer)) return fail(refusal(answer, 'The password was not changed.'), element('new-password'));
    element('change-form').reset();
    element(emailField).value = email;
    show(screen);
    // After the form's own message has been cleared.
    setTimeout(() => say('The password was changed. Sign in with it.'));
  });

  element('other-factor').addEventListener('click', () => useBackup(element('backup-field').hidden));
  element('mfa-again').addEventListener('click', () => {
    forgetFailure();
    show(challenge?.screen ?? 'password');
  });
}

/** A step's answer says which one follows. */
export function next(known, body) {
  if (body.mfaRequired) {
    challenge = { ...known, mfaToken: body.mfaToken };
    useBackup(false);
    return show('mfa');
  }
  if (body.mustChangePassword) {
    challenge = { ...known, tempToken: body.tempToken };
    element('change-account').value = known.email;
    return show('change');
  }
  challenge = undefined;
  begin(body);
}

/** Too many codes were tried, or too much time went by: the step before has to be done again. */
const isOver = ({ status, body }) => status === 401 && body.error === 'invalid or expired token';

function startAgain(answer) {
  const { screen } = challenge;
  challenge = undefined;
  show(screen);
  fail(refusal(answer, ''));
}

function useBackup(backup) {
  // What stands in a field that nobody sees must not keep the form from being sent.
  element('code').value = '';
  element('backup-code').value = '';
  element('backup-field').hidden = !backup;
  element('code-field').hidden = backup;
  element('other-factor').textContent = backup ? 'Use the authenticator app instead' : 'Use a backup code instead';
  element(backup ? 'backup-code' : 'code').focus();
}
