import { ask, succeeded } from './server.js';
import { element } from './screens.js';
import { canReturn, leavingAddress } from './sso-return.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The tenant to sign in to: named by the address, the only one there is, or typed. */
export const currentTenant = () => element('tenant-id').value.trim().toLowerCase();
export const isTenantId = (text) => UUID.test(text);

const STARTED = 'castellan-sso-started';
const AGAIN_MS = 60_000;

/**
 * Leaves for the identity provider where the address asks for it (a sign-in that began there). Not twice in a minute: a
 * provider that never takes a request would send the browser in circles. Returns whether the page is being left.
 */
export async function startSingleSignOn(protocol) {
  const link = protocol === 'saml' || protocol === 'oidc' ? element(`sso-${protocol}`) : undefined;
  if (!link || link.hidden || Date.now() - Number(sessionStorage.getItem(STARTED) ?? 0) < AGAIN_MS) return false;
  sessionStorage.setItem(STARTED, String(Date.now()));
  location.replace(await leavingAddress(link.href));
  return true;
}

export async function findTenant(named) {
  const field = element('tenant-id');
  if (named && isTenantId(named)) field.value = named;
  const only = await ask('GET', '/api/v1/auth/tenant');
  if (succeeded(only) && (field.value === '' || field.value.toLowerCase() === only.body.tenantId)) {
    field.value = only.body.tenantId;
    element('tenant-field').hidden = true;
    element('tenant-name').textContent = `Tenant: ${only.body.name}`;
    element('tenant-name').hidden = false;
  }
  for (const link of [element('sso-oidc'), element('sso-saml')]) {
    link.addEventListener('click', async (event) => {
      event.preventDefault();
      location.assign(await leavingAddress(link.href));
    });
  }
  await offerSingleSignOn();
  field.addEventListener('change', () => void offerSingleSignOn());
}

/** Shows the ways that the tenant has set up; none for a tenant that has not, or is not. */
async function offerSingleSignOn() {
  const tenantId = currentTenant();
  const status =
    canReturn() && isTenantId(tenantId)
      ? await ask('GET', `/api/v1/auth/sso/status?tenant_id=${encodeURIComponent(tenantId)}`)
      : undefined;
  // Typed on in the meantime: this answer is about another tenant.
  if (tenantId !== currentTenant()) return;
  const offered = status && succeeded(status) ? status.body : {};
  offer('sso-oidc', offered.oidc === true, '/api/v1/auth/sso/login', tenantId);
  offer('sso-saml', offered.saml === true, '/api/v1/auth/saml/login', tenantId);
  element('sso-buttons').hidden = offered.oidc !== true && offered.saml !== true;
}

function offer(id, available, path, tenantId) {
  const link = element(id);
  link.hidden = !available;
  link.href = available ? `${path}?${new URLSearchParams({ tenant_id: tenantId })}` : '/login';
}
