import type { TestResponse, TestApp } from './app.ts';
import type { TestOrganization } from './organization.ts';
import { codeOf, type SecondFactor } from './second-factor.ts';

const MFA = '/api/v1/org/mfa';

/** Like `secondFactorOf`, for an organization's owner. */
export async function orgSecondFactorOf({ write }: TestOrganization): Promise<SecondFactor> {
  const { secret } = (await write('POST', `${MFA}/setup`, {})).body as { secret: string };
  const usedCode = await codeOf(secret, -1);
  const verified = await write('POST', `${MFA}/setup/verify`, { code: usedCode });
  if (verified.status !== 200) throw new Error(`no second factor: ${verified.status} ${verified.text}`);
  return { secret, backupCodes: verified.body.backupCodes as string[], usedCode };
}

export const orgLogin = (
  app: TestApp,
  { email, password }: { email: string; password: string },
): Promise<TestResponse> => app.anonymous.post('/api/v1/org/auth/login', { email, password });

export const orgVerify = (app: TestApp, mfaToken: string, presented: object): Promise<TestResponse> =>
  app.anonymous.post('/api/v1/org/auth/mfa/verify', { mfaToken, ...presented });

/** A challenge as after a right password, without password hashing. */
export async function orgChallenge(
  app: TestApp,
  { organizationId, token }: TestOrganization,
  epoch = 0,
): Promise<string> {
  const { subjectId } = (await app.services.accessTokens.verify(token))!;
  return app.services.oneTimeTokens.issue(
    'org-mfa',
    { tenantId: organizationId, subjectId, payload: { epoch } },
    300,
    5,
  );
}
