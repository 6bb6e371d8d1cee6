import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { request as httpsRequest, Agent as HttpsAgent } from 'node:https';
import type { Logger } from 'pino';
import { setUpTenant } from '../../commands/tenants/set-up-tenant.ts';
import { compose, type Application } from '../../src/app/compose/compose.ts';
import { newLogger } from '../../src/platform/observability/logger.ts';
import type { Config } from '../../src/app/config/config.ts';
import type { AdminRole } from '../../src/contexts/identity/domain/roles.ts';
import { openSession } from '../../src/contexts/identity/sign-in.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import { asTenantId, type TenantId } from '../../src/platform/kernel/ids.ts';
import { NO_PRIVATE_NETWORKS } from '../../src/platform/outbound/private-networks.ts';
import { cheapPasswords } from './cheap-passwords.ts';
import { freshDatabase } from './database.ts';
import { clientOver, headersOf, httpClient, parsed, payloadOf, type Client } from './http-client.ts';
import { licenseKey, licensePublicKeyPem } from './licenses.ts';
import { modelsTemplate } from './models-template.ts';
import { isRecording, recordExchange, recordOrigin } from './example-recorder.ts';
import { checkPromise } from './promises.ts';
import { scratchFolder } from './scratch.ts';
import { watchedUntil } from './watched-fetch.ts';

export { httpClient, type Client, type TestRequestOptions, type TestResponse } from './http-client.ts';

/** Budgets so large that no test exhausts them by accident. */
const PLENTY = 1_000_000;
export const PASSWORD = 'Correct-Horse-7!';

/** The discard port: nothing listens there. */
const NOWHERE = { url: 'http://127.0.0.1:9', isTrusted: true };

export const testConfig = (dataDir: string, over: Partial<Config> = {}): Config => ({
  role: 'all',
  host: '127.0.0.1',
  port: 0,
  tlsPort: 0,
  dataDir,
  databaseUrl: undefined,
  eventStoreUrl: undefined,
  redisUrl: undefined,
  masterKey: randomBytes(32),
  otherMasterKey: undefined,
  auditKey: randomBytes(32),
  licensePublicKey: licensePublicKeyPem,
  recoveryKey: undefined,
  metricsToken: undefined,
  adminRateLimit: PLENTY,
  addressRateLimit: PLENTY,
  enrollRateLimit: PLENTY,
  scimRateLimit: PLENTY,
  rateBudgets: {
    setup: PLENTY,
    login: PLENTY,
    sso: PLENTY,
    'org-login': PLENTY,
    recovery: PLENTY,
    oauth: PLENTY,
    device: PLENTY,
    description: PLENTY,
    reference: PLENTY,
  },
  portal: undefined,
  push: { gateway: undefined, fcm: undefined, apns: undefined },
  threatIntel: { scanner: NOWHERE, reputation: NOWHERE },
  s3: undefined,
  trustedProxies: [],
  corsAllowedOrigins: [],
  extensionBaseUrl: 'https://devices.castellan.example',
  clientCertificateHeader: 'X-Client-Cert',
  // The discard port: no test uses the machine's own name servers.
  dnsServers: ['127.0.0.1:9'],
  outboundNetworks: NO_PRIVATE_NETWORKS,
  updates: {
    runningVersion: '0.1.0',
    tenantId: undefined,
    publicKey: undefined,
    allowsUnsigned: false,
    feedUrl: undefined,
    downloadsAutomatically: false,
    command: undefined,
    commandMs: 60_000,
  },
  eventRetentionDays: 90,
  streamRetentionDays: 365,
  tokenKeyGeneration: 1,
  devMode: false,
  drainMs: 10_000,
  logRequests: true,
  logLevel: process.env['TEST_LOG_LEVEL'] ?? 'silent',
  ...over,
});

export interface TestTenant {
  readonly tenantId: TenantId;
  readonly adminId: string;
  readonly email: string;
  readonly token: string;
  /** Its super admin, who has just re-authenticated. Without re-authentication: `app.as(token)`. */
  readonly admin: Client;
}

export interface TestApp {
  readonly application: Application;
  readonly services: Application['services'];
  readonly config: Config;
  readonly url: string;
  readonly tlsUrl: string;
  readonly anonymous: Client;
  as(token: string, headers?: Record<string, string>): Client;
  /** Like `as`, with a fresh re-authentication. */
  reauthenticated(token: string): Promise<Client>;
  /** A new tenant with a signed-in super admin; never through the set-up route. */
  newTenant(options?: {
    name?: string;
    license?: Parameters<typeof licenseKey>[0];
    externalBaseUrl?: string;
  }): Promise<TestTenant>;
  /** Another admin of a tenant, signed in and re-authenticated. Created by the same command as the first one. */
  adminWithRole(tenant: TestTenant, role: AdminRole): Promise<{ adminId: string; client: Client; token: string }>;
  /** mTLS: a client that presents this certificate on a kept-alive connection. */
  device(certificatePem: string, privateKeyPem: string): Client & { close(): void };
  /** Waits until every read model and reaction has processed everything that was appended so far. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** `log` receives the service's messages, for tests that read them. */
export async function startApp(over: Partial<Config> = {}, log?: Logger): Promise<TestApp> {
  const database = await freshDatabase({ template: await modelsTemplate() });
  const dataDir = scratchFolder('app');
  const config = testConfig(dataDir, over);
  const application = await compose(config, {
    database: database.config,
    log: log ?? newLogger(config.logLevel),
    passwords: cheapPasswords(),
  });
  return appOf(application, async () => {
    await application.stop();
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });
}

let shared: Promise<TestApp> | undefined;

/**
 * One application for all files of a worker that need nothing but tenants of their own: starting one, with its database,
 * costs more than many of them. It runs until the worker ends. A file uses `startApp` instead if it stops or replaces
 * parts, looks at other tenants or the installation, or fills the log.
 */
export async function sharedApp(): Promise<TestApp> {
  return { ...(await (shared ??= startApp())), close: () => Promise.resolve() };
}

/** The same helpers for an application that a test has composed itself. */
export function appOf(application: Application, close: () => Promise<void> = () => application.stop()): TestApp {
  const { services, config } = application;
  const url = application.addresses.http;
  recordOrigin(url);
  const clientFor = (headers: Record<string, string>): Client => httpClient(url, headers);
  const app: TestApp = {
    application,
    services,
    config,
    url,
    tlsUrl: application.addresses.tls,
    anonymous: clientFor({}),
    as: (token, headers = {}) => clientFor({ authorization: `Bearer ${token}`, ...headers }),
    reauthenticated: async (token) => app.as(token, await proofFor(services, token)),
    async newTenant({
      name = `Acme ${randomUUID().slice(0, 8)}`,
      license = {},
      externalBaseUrl = 'https://castellan.example',
    } = {}) {
      const tenantId = asTenantId(randomUUID());
      const adminId = randomUUID();
      const email = `owner@${tenantId.slice(0, 8)}.example`;
      const input = {
        name,
        email,
        password: PASSWORD,
        displayName: 'Owner',
        licenseKey: licenseKey({ clientName: name, ...license }),
        externalBaseUrl,
        adminId,
        mustChangePassword: false,
        completesSetup: false,
      };
      const { position } = orThrow(
        await services.executor.execute(setUpTenant, input, { tenantId, actor: system('test') }),
      );
      await services.freshness.waitFor(services.mainModels, position!, 10_000);
      const token = await signIn(services, tenantId, adminId, 'super_admin');
      return { tenantId, adminId, email, token, admin: await app.reauthenticated(token) };
    },
    async adminWithRole({ tenantId }, role) {
      const { adminId, position } = await addAdmin(services, tenantId, role);
      await services.freshness.waitFor([...services.mainModels, 'live-state'], position, 10_000);
      const token = await signIn(services, tenantId, adminId, role);
      return { adminId, token, client: await app.reauthenticated(token) };
    },
    device: (certificatePem, privateKeyPem) =>
      mutualTlsClient(application.addresses.tls, certificatePem, privateKeyPem),
    settled: () => settle(services),
    close: watchedUntil(url, close),
  };
  return app;
}

async function signIn(
  services: TestApp['services'],
  tenantId: TenantId,
  adminId: string,
  role: AdminRole,
): Promise<string> {
  const session = {
    tenantId,
    subjectId: adminId,
    subjectKind: 'admin',
    epoch: 0,
    role,
    method: 'setup',
    actor: system('test'),
  } as const;
  return (await openSession(services, session)).accessToken;
}

/** A re-authentication token of the session behind an access token, without password hashing. */
export async function proofFor(
  { accessTokens, oneTimeTokens }: TestApp['services'],
  accessToken: string,
): Promise<Record<string, string>> {
  const { tenantId, subjectId, sessionId } = (await accessTokens.verify(accessToken))!;
  return {
    'x-reauth-token': await oneTimeTokens.issue('reauth', { tenantId, subjectId, payload: { sessionId } }, 300),
  };
}

/** Appended directly: other tests cover the creation of admins over HTTP. */
async function addAdmin(services: TestApp['services'], tenantId: TenantId, roleType: AdminRole) {
  const { tenant, tenantStream } = await import('../../src/contexts/tenants/domain/tenant.ts');
  const { accept, defineCommand } = await import('../../src/platform/kernel/command.ts');
  const adminId = randomUUID();
  const email = `${roleType}-${adminId.slice(0, 8)}@admins.example`;
  const passwordRef = await services.vault.put(
    tenantId,
    { owner: `admin/${adminId}`, field: 'passwordHash' },
    await services.passwords.hash(PASSWORD),
  );
  const data = {
    adminId,
    email,
    accountDigest: services.accountDigest(email),
    displayName: roleType,
    roleType,
    passwordRef,
    mustChangePassword: false,
    passwordExpiresAt: null,
  };
  const command = defineCommand({
    name: 'AddAdminForTest',
    aggregate: tenant,
    stream: () => tenantStream(tenantId),
    decide: () => accept([{ type: 'AdminUserCreated' as const, data }]),
  });
  const { position } = orThrow(
    await services.executor.execute(command, undefined, { tenantId, actor: system('test') }),
  );
  return { adminId, position: position! };
}

const BEHIND = `
  select array(select name from cursors where state <> 'retired' and position < $1::bigint order by name) as names,
         exists (select from tenant_backlogs) as backlog`;

/** Waits until every read model and reaction has saved a checkpoint at the end of the log. */
export async function settle({ store, database }: TestApp['services']): Promise<void> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const head = await store.head();
    const { rows } = await database.projector.query<{ names: string[]; backlog: boolean }>(BEHIND, [String(head)]);
    const { names, backlog } = rows[0]!;
    // A reaction may have appended meanwhile: settled means that everything has reached the newest head.
    if (names.length === 0 && !backlog && (await store.head()) === head) return;
    if (Date.now() > deadline) throw new Error(`not settled: ${names.join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function mutualTlsClient(url: string, cert: string, key: string): Client & { close(): void } {
  const agent = new HttpsAgent({ cert, key, keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const client = clientOver(
    (method, path, asking = {}) =>
      new Promise((resolve, reject) => {
        const request = httpsRequest(url + path, { method, agent, headers: headersOf(asking) }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const headers = new Headers(
              Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string]),
            );
            const received = { status: response.statusCode ?? 0, headers, text, body: parsed(text) };
            if (isRecording)
              void recordExchange({
                method,
                path,
                body: payloadOf(asking),
                status: received.status,
                media: headers.get('content-type') ?? '',
                text,
              });
            try {
              checkPromise(method, path, received);
              resolve(received);
            } catch (broken) {
              reject(broken as Error);
            }
          });
        });
        request.on('error', reject);
        request.end(payloadOf(asking));
      }),
  );
  return { ...client, close: () => agent.destroy() };
}
