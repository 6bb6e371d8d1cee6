import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { licenseKey, licensePublicKeyPem } from '../dsl/licenses.ts';
import { scratchFolder } from '../dsl/scratch.ts';
import { ask, type Reply } from '../faults/harness/ask.ts';
import { enroll } from '../faults/harness/browser.ts';
import { ServiceNode } from '../faults/harness/service-node.ts';
import type { Party } from './party.ts';

export interface TwoTenants {
  readonly service: ServiceNode;
  readonly hostile: Party;
  readonly other: Party;
  stop(): Promise<void>;
}

// Not the one of `test/dsl/app.ts`: benchmarks start two tenants, too, without Vitest.
const PASSWORD = 'Correct-Horse-7!';

const run = promisify(execFile);
const license = () => licenseKey({ maxUsers: 100_000 });

/**
 * The service as `npm start` runs it, in one process on its embedded PostgreSQL and with its usual limits, and two
 * tenants.
 */
export async function startTwoTenants(): Promise<TwoTenants> {
  const dataDir = scratchFolder('abuse');
  // Empty means unset: the documented limits apply.
  const env = { LICENSE_PUBLIC_KEY: licensePublicKeyPem, RATE_LIMIT_RPS: '', ENROLL_RATE_LIMIT_RPS: '' };
  const service = await ServiceNode.reserve('service', { role: 'all', env, dataDir });
  const stop = async () => {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    service.start();
    await service.ready();
    const other = await firstTenant(service);
    const hostile = await furtherTenant(service, {
      ...process.env,
      ...env,
      NODE_ENV: 'production',
      VITEST: '',
      DATA_DIR: dataDir,
    });
    return { service, hostile, other, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function firstTenant(service: ServiceNode): Promise<Party> {
  const email = 'owner@acme.example';
  const body = {
    email,
    password: PASSWORD,
    displayName: 'Owner',
    licenseKey: license(),
    externalBaseUrl: 'https://acme.example',
  };
  const { tenantId, accessToken } = expectStatus(
    201,
    await ask(`${service.url}/api/v1/setup/complete`, { method: 'POST', body }),
  ).body;
  return partyOf(service, tenantId, email, PASSWORD, accessToken);
}

/** As an operator creates it: a command prints a password, which has to be changed. */
async function furtherTenant(service: ServiceNode, env: NodeJS.ProcessEnv): Promise<Party> {
  const email = 'mallory@mallory.example';
  const args = ['tenant', 'create', '--name', 'Mallory', '--email', email, '--license', license()];
  const { stdout } = await run(process.execPath, ['scripts/run.mjs', 'src/cli.ts', ...args], { env, timeout: 60_000 });
  const lines = stdout.trim().split('\n');
  const tenantId = /Mallory: ([0-9a-f-]{36})/.exec(stdout)![1]!;
  const login = (password: string) =>
    ask(`${service.url}/api/v1/auth/login`, { method: 'POST', body: { email, password, tenantId } });
  const { tempToken } = expectStatus(200, await login(lines.at(-1)!.trim())).body;
  const change = { tempToken, newPassword: PASSWORD, confirmPassword: PASSWORD };
  expectStatus(200, await ask(`${service.url}/api/v1/auth/change-password`, { method: 'POST', body: change }));
  const { accessToken } = expectStatus(200, await login(PASSWORD)).body;
  return partyOf(service, tenantId, email, PASSWORD, accessToken);
}

async function partyOf(
  { url, tlsUrl }: ServiceNode,
  tenantId: string,
  email: string,
  password: string,
  accessToken: string,
): Promise<Party> {
  const party = { url, tlsUrl, tenantId, email, password, headers: { authorization: `Bearer ${accessToken}` } };
  return { ...party, browser: await enroll(party) };
}

function expectStatus(status: number, reply: Reply): Reply {
  if (reply.status !== status) throw new Error(`expected ${status}, got ${reply.status} ${reply.text}`);
  return reply;
}
