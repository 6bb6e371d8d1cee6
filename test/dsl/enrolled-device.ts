import { randomUUID } from 'node:crypto';
import type { TestResponse, Client, TestApp, TestTenant } from './app.ts';

export const browser = (over: Record<string, unknown> = {}): Record<string, unknown> => ({
  deviceFingerprint: `fp-${randomUUID()}`,
  browserType: 'chrome',
  browserVersion: '131.0.1',
  osType: 'linux',
  osVersion: '6.1',
  extensionVersion: '2.0.0',
  ...over,
});

/** A new enrollment token, issued by the tenant's super admin; bound to the user, if one is given. */
export async function enrollmentTokenOf({ admin }: TestTenant, userId?: string): Promise<string> {
  const answer = await admin.post('/api/v1/admin/enrollment/token', { userId });
  if (answer.status !== 201) throw new Error(`no enrollment token: ${answer.status} ${answer.text}`);
  return answer.body.token as string;
}

/** One enrollment, with any outcome. */
export const tryToEnroll = (
  app: TestApp,
  tenantId: string,
  enrollmentToken: string,
  over: Record<string, unknown> = {},
): Promise<TestResponse> =>
  app.anonymous.post('/api/v1/enroll/certificate', browser({ enrollmentToken, ...over }), {
    headers: { 'x-tenant-id': tenantId },
  });

export interface EnrolledDevice {
  readonly deviceId: string;
  readonly userId: string;
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  readonly caCertificatePem: string;
  readonly expiresAt: string;
  /** Uses mTLS over one kept-alive connection; close it after use. */
  readonly client: Client & { close(): void };
}

/** A browser that enrolled with its own token; bound to the user, if one is given. */
export async function enrolledDevice(
  app: TestApp,
  tenant: TestTenant,
  over: Record<string, unknown> = {},
  boundTo?: string,
): Promise<EnrolledDevice> {
  const answer = await tryToEnroll(app, tenant.tenantId, await enrollmentTokenOf(tenant, boundTo), over);
  if (answer.status !== 200) throw new Error(`not enrolled: ${answer.status} ${answer.text}`);
  const { deviceId, userId, clientCertificate, clientPrivateKey, caCertificate, expiresAt } = answer.body as Record<
    string,
    string
  >;
  return {
    deviceId: deviceId!,
    userId: userId!,
    certificatePem: clientCertificate!,
    privateKeyPem: clientPrivateKey!,
    caCertificatePem: caCertificate!,
    expiresAt: expiresAt!,
    client: app.device(clientCertificate!, clientPrivateKey!),
  };
}
