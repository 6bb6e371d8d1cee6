import { offerOrganizationSignIn } from './organization.js';
import { offerPasswordSignIn } from './password.js';
import { ask, succeeded } from './server.js';
import { begin, offerSignOut } from './session.js';
import { element, fail, forgetFailure, say, show } from './screens.js';
import { canReturn, finishReturn, leavingAddress } from './sso-return.js';
import { offerFurtherSteps } from './steps.js';
import { findTenant, isTenantId, LOGINS } from './tenant.js';
import { refusal, ssoError } from './words.js';

/** Where a single sign-on came back to this page: by which parameters, and who exchanges the code. */
const RETURNS = [
  {
    code: 'sso_code',
    error: 'sso_error',
    exchange: '/api/v1/auth/sso/exchange',
    logout: '/api/v1/auth/sso/logout',
    screen: 'password',
  },
  // An organization's own link may begin it without this page: then only its administrator can say whether they meant to.
  {
    code: 'org_sso_code',
    error: 'org_sso_error',
    exchange: '/api/v1/org/auth/sso/exchange',
    logout: '/api/v1/org/auth/sso/logout',
    screen: 'organization',
    mayBeginElsewhere: true,
  },
];

const LEFT = 'castellan-sso-started';
const AGAIN_MS = 60_000;

const parameters = new URLSearchParams(location.search);
// A provider returns `state` after a logout: the tenant, or the word for an organization.
const leftFrom = parameters.get('state');
const tenantId = parameters.get('tenant_id') ?? (isTenantId(leftFrom ?? '') ? leftFrom : null);
const loginHint = new URLSearchParams(location.hash.slice(1)).get('login_hint');
// A code is used once, but even so it has no business in the history or in the address bar.
history.replaceState(null, '', tenantId ? `/login?${new URLSearchParams({ tenant_id: tenantId })}` : '/login');

offerPasswordSignIn();
offerFurtherSteps();
offerOrganizationSignIn();
offerSignOut(() => show('password'));
for (const button of document.querySelectorAll('[data-screen]')) {
  button.addEventListener('click', () => {
    forgetFailure();
    show(button.dataset.screen);
  });
}

const started = startedByProvider();
if (started && canReturn() && !hasJustLeft()) {
  say('One moment…');
  sessionStorage.setItem(LEFT, String(Date.now()));
  location.replace(await leavingAddress(started));
  // The browser leaves: nothing else may use up what it left with.
  await new Promise(() => {});
}

const verifier = finishReturn();
const came = RETURNS.find(({ code, error }) => parameters.has(code) || parameters.has(error));
say('One moment…');
const code = came && parameters.get(came.code);
const exchange = () => ask('POST', came.exchange, { body: { code, verifier }, withCookies: true });
const isStray = Boolean(code && verifier === '' && came.mayBeginElsewhere);
const [answer, isSetUp] = await Promise.all([code && !isStray ? exchange() : undefined, findTenant(tenantId)]);
say('');
if (isStray) {
  show('stray');
  element('stray-go').addEventListener(
    'click',
    async () => {
      say('One moment…');
      const said = await exchange();
      say('');
      finish(said);
    },
    { once: true },
  );
} else finish(answer);

function finish(answer) {
  if (answer && succeeded(answer)) return begin(answer.body, came.logout);
  if (!came && !isSetUp) return show('setup');
  show(came?.screen ?? (leftFrom === 'organization' ? 'organization' : 'password'));
  if (leftFrom) say('You are signed out.');
  if (answer) fail(refusal(answer, 'This sign-in was used already or took too long. Start it again.'));
  else if (came) fail(ssoError(parameters.get(came.error), parameters.get('sso_hint')));
  // The next try is usually the same way again.
  if (came) [...document.querySelectorAll('#sso-buttons a')].find((link) => link.offsetParent !== null)?.focus();
}

/** A provider that never takes a request would send the browser in circles. */
function hasJustLeft() {
  return Date.now() - Number(sessionStorage.getItem(LEFT) ?? 0) < AGAIN_MS;
}

/** The way to the provider, if its portal sent the browser here (OpenID Connect Core 1.0 §4). */
function startedByProvider() {
  const path = LOGINS[parameters.get('sso_start')];
  const slug = parameters.get('org_sso_start');
  const hint = loginHint ? { login_hint: loginHint } : {};
  if (path && tenantId) return `${path}?${new URLSearchParams({ tenant_id: tenantId, ...hint })}`;
  return slug ? `/api/v1/org/auth/sso/login?${new URLSearchParams({ slug, ...hint })}` : undefined;
}
