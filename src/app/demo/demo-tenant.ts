import { randomUUID, sign } from 'node:crypto';
import { setUpTenant } from '../../../commands/tenants/set-up-tenant.ts';
import { randomPassword } from '../../contexts/identity/passwords.ts';
import { system } from '../../platform/kernel/actor.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, type TenantId } from '../../platform/kernel/ids.ts';
import { assertDemo, type DemoOutput } from './demo-output.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { ReadModelName } from '../../platform/kernel/read-model-name.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';

export interface DemoTenantDependencies {
  readonly executor: Executor<CommandPorts>;
  readonly freshness: Freshness;
  readonly mainModels: readonly ReadModelName[];
}

/** A request to the routes for administrators, as the demo's owner. */
export type AdminCall = (method: string, path: string, body?: object) => Promise<unknown>;

export interface CanaryCookie {
  readonly id: string;
  readonly name: string;
  readonly domain: string;
}

export interface DemoTenant {
  readonly tenantId: TenantId;
  readonly admin: AdminCall;
  readonly canary: CanaryCookie;
}

const EMAIL = 'owner@demo.example';

/** The first chapter: a tenant of its own, whose administrator signs in over HTTP. */
export async function tenantChapter(
  services: DemoTenantDependencies,
  output: DemoOutput,
  { devices, http, licenseSigningKey }: { devices: number; http: string; licenseSigningKey: SigningKey },
): Promise<DemoTenant> {
  output.chapter('A tenant and its administrator');
  const { tenantId, password } = await output.step(
    'set up',
    () => newDemoTenant(services, devices, licenseSigningKey),
    ({ tenantId: id }) => `tenant ${id}`,
  );
  const { accessToken } = (await output.step(
    'sign in',
    () => call(http, 'POST', '/api/v1/auth/login', { email: EMAIL, password, tenantId }),
    () => 'with password',
  )) as { accessToken: string };
  const admin: AdminCall = (method, path, body) =>
    call(http, method, `/api/v1/admin${path}`, body, { authorization: `Bearer ${accessToken}` });
  await output.step(
    'switch to warn mode',
    () => admin('PUT', '/settings', { extensionMode: 'warn' }),
    () => 'learning → warn',
  );
  const cookie = { name: 'session_backup', domain: 'intranet.example.com' };
  const canary = await output.step(
    'plant a canary cookie',
    () => admin('POST', '/active-countermeasures/canary-cookies', cookie) as Promise<CanaryCookie>,
    ({ domain }) => `for ${domain}`,
  );
  return { tenantId, admin, canary };
}

/** Signs the demo tenant's license; PEM or a key object. */
export type SigningKey = Parameters<typeof sign>[2];

async function newDemoTenant(services: DemoTenantDependencies, devices: number, key: SigningKey) {
  const tenantId = asTenantId(randomUUID());
  const password = randomPassword();
  const now = Date.now();
  const payload = Buffer.from(
    JSON.stringify({
      licenseId: randomUUID(),
      clientName: `Demo ${tenantId.slice(0, 8)}`,
      tier: 'enterprise',
      maxUsers: devices + 100,
      issuedAt: new Date(now).toISOString(),
      expiresAt: new Date(now + 30 * 86_400_000).toISOString(),
      maxEventRetentionDays: 365,
      maxStreamRetentionDays: 730,
      features: [],
    }),
  ).toString('base64url');
  const licenseKey = `${payload}.${sign(null, Buffer.from(payload, 'ascii'), key).toString('base64url')}`;
  const input = {
    name: null,
    email: EMAIL,
    password,
    displayName: 'Demo Owner',
    licenseKey,
    externalBaseUrl: 'https://castellan.example',
    adminId: randomUUID(),
    mustChangePassword: false,
    completesSetup: false,
  };
  const { position } = orThrow(
    await services.executor.execute(setUpTenant, input, { tenantId, actor: system('castellan demo') }),
  );
  await services.freshness.waitFor(services.mainModels, position!, 10_000);
  return { tenantId, password };
}

async function call(
  base: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<unknown> {
  const response = await fetch(base + path, {
    method,
    headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  assertDemo(response.ok, `${method} ${path} succeeds, not ${response.status} ${text}`);
  return text ? (JSON.parse(text) as unknown) : undefined;
}
