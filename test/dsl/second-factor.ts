import { generate } from 'otplib';
import { setTimeout as sleep } from 'node:timers/promises';
import { PASSWORD, proofFor, type TestResponse, type Client, type TestApp, type TestTenant } from './app.ts';

const STEP_MS = 30_000;
/** A code for the previous step must not expire in transit. */
const ROOM_MS = 6_000;

/** The code of an authenticator app now, or this many steps away. */
export async function codeOf(secret: string, steps = 0): Promise<string> {
  const left = STEP_MS - (Date.now() % STEP_MS);
  if (steps < 0 && left < ROOM_MS) await sleep(left + 10);
  return generate({ secret, epoch: Math.floor(Date.now() / 1000) + steps * 30 });
}

export interface SecondFactor {
  readonly secret: string;
  readonly backupCodes: readonly string[];
  /** The code that turned it on. It cannot be recomputed later: the step may have changed. */
  readonly usedCode: string;
}

/**
 * Turns the second factor on with the code of the previous step, so that those of this step and the next remain usable.
 */
export async function secondFactorOf(client: Client): Promise<SecondFactor> {
  const { secret } = (await client.post('/api/v1/admin/mfa/setup')).body as { secret: string };
  const usedCode = await codeOf(secret, -1);
  const verified = await client.post('/api/v1/admin/mfa/setup/verify', { code: usedCode });
  if (verified.status !== 200) throw new Error(`no second factor: ${verified.status} ${verified.text}`);
  return { secret, backupCodes: verified.body.backupCodes as string[], usedCode };
}

type Account = Pick<TestTenant, 'tenantId' | 'email'>;

export const login = (app: TestApp, { tenantId, email }: Account, password = PASSWORD): Promise<TestResponse> =>
  app.anonymous.post('/api/v1/auth/login', { email, password, tenantId });

export const verify = (
  app: TestApp,
  mfaToken: string,
  presented: object,
  headers: Record<string, string> = {},
): Promise<TestResponse> => app.anonymous.post('/api/v1/auth/mfa/verify', { mfaToken, ...presented }, { headers });

/** A challenge as after a right password, without password hashing. */
export const challenge = (
  app: TestApp,
  { tenantId, adminId }: Pick<TestTenant, 'tenantId' | 'adminId'>,
  epoch = 0,
): Promise<string> =>
  app.services.oneTimeTokens.issue('mfa', { tenantId, subjectId: adminId, payload: { epoch } }, 300, 5);

/** A re-authentication token of the session behind an access token, without password hashing. */
export const proofOf = (app: TestApp, accessToken: string): Promise<Record<string, string>> =>
  proofFor(app.services, accessToken);
