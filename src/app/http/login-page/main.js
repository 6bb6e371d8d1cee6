import { offerOrganizationSignIn } from './organization.js';
import { offerPasswordSignIn } from './password.js';
import { ask, succeeded } from './server.js';
import { begin, offerSignOut } from './session.js';
import { element, fail, forgetFailure, say, show } from './screens.js';
import { finishReturn } from './sso-return.js';
import { offerFurtherSteps } from './steps.js';
import { findTenant, startSingleSignOn } from './tenant.js';
import { refusal, ssoError } from './words.js';

/** Where a single sign-on came back to this page: by which parameters, and who exchanges the code. */
const RETURNS = [
  { code: 'sso_code', error: 'sso_error', exchange: '/api/v1/auth/sso/exchange', screen: 'password' },
  // An organization's own link may begin it without this page: then only its administrator can say whether they meant to.
  {
    code: 'org_sso_code',
    error: 'org_sso_error',
    exchange: '/api/v1/org/auth/sso/exchange',
    screen: 'organization',
    mayBeginElsewhere: true,
  },
];

const parameters = new URLSearchParams(location.search);
const tenantId = parameters.get('tenant_id');
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

const verifier = finishReturn();
const came = RETURNS.find(({ code, error }) => parameters.has(code) || parameters.has(error));
say('One moment…');
const code = came && parameters.get(came.code);
const exchange = () => ask('POST', came.exchange, { body: { code, verifier }, withCookies: true });
const isStray = Boolean(code && verifier === '' && came.mayBeginElsewhere);
const [answer] = await Promise.all([code && !isStray ? exchange() : undefined, findTenant(tenantId)]);
const isLeaving = !came && (await startSingleSignOn(parameters.get('sso_start')));
if (!isLeaving) say('');
if (isLeaving) {
  // The identity provider is on its way.
} else if (isStray) {
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
  if (answer && succeeded(answer)) return begin(answer.body);
  show(came?.screen ?? 'password');
  if (answer) fail(refusal(answer, 'This sign-in was used already or took too long. Start it again.'));
  else if (came) fail(ssoError(parameters.get(came.error)));
}
