import { ask, succeeded } from './server.js';
import { element, fail, forgetFailure, show } from './screens.js';
import { roleName } from './words.js';

/** In memory only: no script of another page, no extension's storage dump and no disk ever sees it. */
let session;

/** An answer with tokens in it: of a tenant's admin, or of an organization's. */
/** `logout` is the address that also knows the provider's logout, if a provider signed them in. */
export function begin({ accessToken, user }, logout) {
  session = { accessToken, logout };
  element('sign-out-everywhere').hidden = !logout;
  // Whoever comes next signs in to the same tenant, but is somebody else.
  for (const field of document.querySelectorAll('input:not(#tenant-id)')) field.value = '';
  element('org-sso').hidden = true;
  forgetFailure();
  element('who-name').textContent = user.displayName;
  element('who-email').textContent = user.email;
  element('who-role').textContent = roleName(user.roleType ?? user.role);
  show('signed-in');
}

export function offerSignOut(afterwards) {
  element('sign-out').addEventListener('click', async () => {
    const ending = session;
    session = undefined;
    // Whatever the server says, this page knows nothing any more.
    if (ending) await ask('POST', '/api/v1/auth/logout', { token: ending.accessToken });
    afterwards();
  });
  element('sign-out-everywhere').addEventListener('click', async () => {
    const ending = session;
    session = undefined;
    const answer = await ask('POST', ending.logout, { token: ending.accessToken, withCookies: true });
    const { logoutUrl } = answer.body;
    if (succeeded(answer) && /^https?:\/\//.test(logoutUrl ?? '')) return location.assign(logoutUrl);
    afterwards();
    fail(
      succeeded(answer)
        ? 'You are signed out here. The identity provider offers no way to sign out from here.'
        : 'The server could not end this session. Close your browser to be sure.',
    );
  });
}
