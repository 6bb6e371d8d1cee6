import { generateKeyPairSync, randomBytes, randomUUID, sign, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type pg from 'pg';
import { setUpTenant } from '../commands/tenants/set-up-tenant.ts';
import type { ComposeOptions } from '../src/app/compose/composition-context.ts';
import { compose, type Application } from '../src/app/compose/compose.ts';
import { newLogger } from '../src/platform/observability/logger.ts';
import { readConfig } from '../src/app/config/config.ts';
import { openSession } from '../src/contexts/identity/sign-in.ts';
import { system } from '../src/platform/kernel/actor.ts';
import { orThrow } from '../src/platform/kernel/failure.ts';
import { asTenantId, type TenantId } from '../src/platform/kernel/ids.ts';

export interface BenchApp {
  readonly services: Application['services'];
  readonly url: string;
  readonly tlsUrl: string;
  readonly tenantId: TenantId;
  /** A super admin's. */
  readonly headers: Record<string, string>;
  readonly databaseConfig: pg.ClientConfig;
  /** Another tenant, with its super admin. */
  newTenant(maxUsers?: number): Promise<Pick<BenchApp, 'tenantId' | 'headers'>>;
  stop(): Promise<void>;
}

const PLENTY = 100_000_000;
const MAX_USERS = 10_000_000;

/**
 * The whole service with its embedded database (its log elsewhere if `eventStoreUrl` is set), effectively without rate
 * limits, and one tenant.
 */
export async function startBenchApp({
  eventStoreUrl,
  devMode = false,
  ...options
}: Pick<ComposeOptions, 'passwords'> & {
  readonly eventStoreUrl?: string | undefined;
  readonly devMode?: boolean;
} = {}): Promise<BenchApp> {
  const dataDir = mkdtempSync('/var/tmp/castellan-bench-app-');
  const pair = generateKeyPairSync('ed25519');
  const licensePublicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const config = {
    ...readConfig({
      DATA_DIR: dataDir,
      MASTER_KEY: randomBytes(32).toString('hex'),
      AUDIT_HMAC_KEY: randomBytes(32).toString('hex'),
      LICENSE_PUBLIC_KEY: licensePublicKey,
    }),
    eventStoreUrl,
    devMode,
    port: 0,
    tlsPort: 0,
    adminRateLimit: PLENTY,
    addressRateLimit: PLENTY,
    enrollRateLimit: PLENTY,
    scimRateLimit: PLENTY,
    rateBudgets: { login: PLENTY, 'org-login': PLENTY, device: PLENTY, scim: PLENTY, oauth: PLENTY },
  };
  const application = await compose(config, { ...options, log: newLogger('error') });
  const { services } = application;
  const newTenant = (maxUsers = MAX_USERS) => makeTenant(services, pair.privateKey, maxUsers);
  const { tenantId, headers } = await newTenant();
  return {
    services,
    url: application.addresses.http,
    tlsUrl: application.addresses.tls,
    tenantId,
    headers,
    newTenant,
    databaseConfig: services.database.config,
    stop: async () => {
      await application.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function makeTenant(
  services: Application['services'],
  signingKey: KeyObject,
  maxUsers: number,
): Promise<Pick<BenchApp, 'tenantId' | 'headers'>> {
  const tenantId = asTenantId(randomUUID());
  const adminId = randomUUID();
  const license = {
    licenseId: randomUUID(),
    clientName: 'Bench',
    tier: 'enterprise',
    maxUsers,
    issuedAt: new Date().toISOString(),
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    maxEventRetentionDays: 365,
    maxStreamRetentionDays: 365,
    features: [],
  };
  const payload = Buffer.from(JSON.stringify(license)).toString('base64url');
  const input = {
    name: null,
    email: 'bench@example.com',
    password: 'Correct-Horse-7!',
    displayName: 'Bench',
    licenseKey: `${payload}.${sign(null, Buffer.from(payload, 'ascii'), signingKey).toString('base64url')}`,
    externalBaseUrl: 'https://bench.example',
    adminId,
    mustChangePassword: false,
    completesSetup: false,
  };
  const { position } = orThrow(
    await services.executor.execute(setUpTenant, input, { tenantId, actor: system('bench') }),
  );
  await services.freshness.waitFor(setUpTenant.freshens!, position!);
  const session = {
    tenantId,
    subjectId: adminId,
    subjectKind: 'admin',
    epoch: 0,
    role: 'super_admin',
    method: 'setup',
    actor: system('bench'),
  } as const;
  const { accessToken } = await openSession(services, session);
  return { tenantId, headers: { authorization: `Bearer ${accessToken}` } };
}
