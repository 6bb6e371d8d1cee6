import { ask, succeeded } from './server.js';
import { element, fail, whenSubmitted } from './screens.js';
import { next, TENANTS } from './steps.js';
import { currentTenant, isTenantId } from './tenant.js';
import { refusal } from './words.js';

export function offerPasswordSignIn() {
  whenSubmitted(element('password-form'), async (fields) => {
    const tenantId = currentTenant();
    if (!isTenantId(tenantId))
      return fail('This is not a tenant ID. It has 32 hexadecimal digits in five groups.', element('tenant-id'));
    const email = fields.get('email').trim();
    const answer = await ask('POST', '/api/v1/auth/login', {
      tenantId,
      withCookies: true,
      body: { email, password: fields.get('password') },
    });
    element('password').value = '';
    if (succeeded(answer)) return next({ ...TENANTS, tenantId, email }, answer.body);
    fail(refusal(answer, 'The sign-in was refused.'), element('password'));
  });
}
