import { randomUUID } from 'node:crypto';
import { setUpTenant } from '../../../commands/tenants/set-up-tenant.ts';
import { openSession } from '../../../src/contexts/identity/sign-in.ts';
import { system } from '../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../src/platform/kernel/failure.ts';
import { asTenantId, type TenantId } from '../../../src/platform/kernel/ids.ts';
import { PASSWORD, type Client, type TestApp } from '../../dsl/app.ts';
import { licenseKey } from '../../dsl/licenses.ts';

export interface Owner {
  readonly tenantId: TenantId;
  readonly adminId: string;
  readonly email: string;
}

/** A tenant that browsers reach here, with its first admin. */
export async function newOwner({ services, url }: TestApp, { mustChangePassword = false } = {}): Promise<Owner> {
  const tenantId = asTenantId(randomUUID());
  const adminId = randomUUID();
  const email = `owner@${tenantId.slice(0, 8)}.example`;
  const owner = { email, password: PASSWORD, displayName: 'Owner', adminId, mustChangePassword };
  const input = {
    ...owner,
    name: 'Initech',
    licenseKey: licenseKey({ clientName: 'Initech' }),
    externalBaseUrl: url,
    completesSetup: false,
  };
  const { position } = orThrow(
    await services.executor.execute(setUpTenant, input, { tenantId, actor: system('test') }),
  );
  await services.freshness.waitFor(services.mainModels, position!, 10_000);
  return { tenantId, adminId, email };
}

/** That admin over HTTP, re-authenticated. */
export async function asOwner({ services, reauthenticated }: TestApp, { tenantId, adminId }: Owner): Promise<Client> {
  const session = {
    tenantId,
    subjectId: adminId,
    subjectKind: 'admin',
    epoch: 0,
    role: 'super_admin',
    method: 'password',
    actor: system('test'),
  } as const;
  return reauthenticated((await openSession(services, session)).accessToken);
}
