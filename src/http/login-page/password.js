import { ask, succeeded } from './server.js';
import { begin } from './session.js';
import { element, fail, say, show, whenSubmitted } from './screens.js';
import { currentTenant, isTenantId } from './tenant.js';
import { refusal } from './words.js';

/** Between the steps of one sign-in: what the step before handed out. */
let challenge;

export function offerPasswordSignIn() {
  whenSubmitted(element('password-form'), async (fields) => {
    const tenantId = currentTenant();
    if (!isTenantId(tenantId)) return fail('This is not a tenant ID. It has 32 hexadecimal digits in five groups.', element('tenant-id'));
    const email = fields.get('email').trim();
    const answer = await ask('POST', '/api/v1/auth/login', { tenantId, withCookies: true, body: { email, password: fields.get('password') } });
    element('password').value = '';
    if (succeeded(answer)) return next({ tenantId, email }, answer.body);
    fail(refusal(answer, 'The sign-in was refused.'), element('password'));
  });

  whenSubmitted(element('mfa-form'), async (fields) => {
    const byBackup = !element('backup-field').hidden;
    const field = element(byBackup ? 'backup-code' : 'code');
    const given = String(fields.get(field.name)).trim();
    if (!given) return fail(byBackup ? 'Enter one of your backup codes.' : 'Enter the six digits that your authenticator app shows.', field);
    const { tenantId, mfaToken } = challenge;
    const answer = await ask('POST', '/api/v1/auth/mfa/verify', { tenantId, withCookies: true, body: { mfaToken, [field.name]: given } });
    field.value = '';
    if (succeeded(answer)) return next(challenge, answer.body);
    if (isOver(answer)) return startAgain(answer);
    fail(refusal(answer, 'This code is not right, or was used before. Try the next one.'), field);
  });

  whenSubmitted(element('change-form'), async (fields) => {
    const newPassword = fields.get('newPassword');
    const confirmPassword = fields.get('confirmPassword');
    if (newPassword !== confirmPassword) return fail('The two passwords differ.', element('confirm-password'));
    const { tenantId, tempToken, email } = challenge;
    const answer = await ask('POST', '/api/v1/auth/change-password', { tenantId, body: { tempToken, newPassword, confirmPassword } });
    if (isOver(answer)) return startAgain(answer);
    if (!succeeded(answer)) return fail(refusal(answer, 'The password was not changed.'), element('new-password'));
    element('change-form').reset();
    element('email').value = email;
    show('password');
    // After the form's own message has been cleared.
    setTimeout(() => say('The password was changed. Sign in with it.'));
  });

  element('other-factor').addEventListener('click', () => useBackup(element('backup-field').hidden));
}

/** A step's answer says which one follows. */
function next(known, body) {
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
  challenge = undefined;
  show('password');
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
