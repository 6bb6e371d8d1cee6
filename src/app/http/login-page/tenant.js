import { ask, succeeded } from './server.js';
import { element } from './screens.js';
import { canReturn, leavingAddress } from './sso-return.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Where the way to a tenant's provider begins. */
export const LOGINS = { oidc: '/api/v1/auth/sso/login', saml: '/api/v1/auth/saml/login' };

/** The tenant to sign in to: named by the address, the only one there is, or typed. */
export const currentTenant = () => element('tenant-id').value.trim().toLowerCase();
export const isTenantId = (text) => UUID.test(text);

/** Returns false if the installation has no tenant at all. */
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
  return only.body.code !== 'not_set_up';
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
  offer('sso-oidc', offered.oidc === true && (offered.oidcName || 'OpenID Connect'), LOGINS.oidc, tenantId);
  offer('sso-saml', offered.saml === true && (offered.samlName || 'SAML'), LOGINS.saml, tenantId);
  element('sso-buttons').hidden = offered.oidc !== true && offered.saml !== true;
}

function offer(id, name, path, tenantId) {
  const link = element(id);
  link.hidden = !name;
  if (name) link.textContent = `Sign in with ${name}`;
  link.href = name ? `${path}?${new URLSearchParams({ tenant_id: tenantId })}` : '/login';
}
