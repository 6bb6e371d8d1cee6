import { createHash, randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { autoEnrollDevice } from '../../../../../commands/enrollment/auto-enroll-device.ts';
import { osTypes } from '../../../../contexts/devices/domain/events.ts';
import { agentSecrets, agentSecretStream, isAgentSecret } from '../../../../contexts/enrollment/domain/agent-secret.ts';
import { FailureError, invalid, notFound } from '../../../../platform/kernel/failure.ts';
import { asTenantId, uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import { openAccess } from '../../access.ts';
import { credentialForm } from './device-credentials.ts';
import { enrollmentTargetOf, type DeviceOfFingerprintDependencies } from './enrollment-target.ts';
import { refuseWithoutTls } from '../../confidential-request.ts';
import { identifyDevice, type DeviceIdentityDependencies } from '../../plugins/device-identity.ts';
import { syncedUser, type SyncedUserDependencies } from './synced-user.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';
import type { Refusal } from '../../refusal.ts';
import { requiredTenant } from '../../tenant-header.ts';
import { familyName } from '../../validation.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import type { Limits } from '../../../config/limits.ts';

export type AutoEnrollmentRouteDependencies = DeviceIdentityDependencies &
  DeviceOfFingerprintDependencies &
  SyncedUserDependencies & {
    readonly config: { readonly devMode: boolean };
    readonly loader: AggregateLoader;
    readonly limits: Pick<Limits, 'certificates'>;
  };

const route = routeWith<AutoEnrollmentRouteDependencies>();

const text = z.string().trim().min(1).max(256);

const autoEnrollment = z.object({
  username: text,
  upn: text,
  domain: text.nullish(),
  sid: text.nullish(),
  displayName: nameField({ max: 256 }).nullish(),
  tenantId: uuid(),
  deviceInfo: z
    .object({
      hostname: text.nullish(),
      osType: familyName(osTypes).nullish(),
      osVersion: text.nullish(),
      agentVersion: text.nullish(),
    })
    .nullish(),
  csr: credentialForm.csr,
});
type AutoEnrollment = z.output<typeof autoEnrollment>;

const NO_TENANT = invalid('X-Tenant-ID', 'is required');

/** F240 … F243 define only these four codes. */
function errorCodeOf({
  status,
  message,
}: Pick<Refusal, 'status' | 'message'>):
  'missing_tenant' | 'service_unavailable' | 'user_not_found' | 'invalid_request' {
  if (message === NO_TENANT.message) return 'missing_tenant';
  if (status === 404) return 'user_not_found';
  return status === 429 || status >= 500 ? 'service_unavailable' : 'invalid_request';
}

function refuseOtherTenant(request: FastifyRequest, { tenantId }: AutoEnrollment): void {
  if (requiredTenant(request) !== tenantId) throw new FailureError(invalid('tenantId', 'differs from X-Tenant-ID'));
}

/** The same response without the tenant's secret in all cases, so that it discloses no tenants or users. */
const NOT_OFFERED = {
  status: 503,
  message: 'auto-enrollment is not set up for this tenant, or X-Enrollment-Secret is missing or wrong',
};

async function showsSecret(
  { loader }: AutoEnrollmentRouteDependencies,
  tenantId: TenantId,
  header: string | string[] | undefined,
): Promise<boolean> {
  return isAgentSecret(await loader.load(agentSecrets, agentSecretStream(tenantId)), String(header ?? ''), Date.now());
}

const refusal = (refused: Pick<Refusal, 'status' | 'message'>) => ({
  success: false,
  error: refused.message,
  errorCode: errorCodeOf(refused),
});

const refusalView = z
  .object({ success: z.literal(false), error: z.string(), errorCode: z.string() })
  .meta({ title: 'EnrollAgentError' });

/** One agent per user and computer. A keyed digest, because the name of a computer is personal data. */
const fingerprintOf = (
  { accountDigest }: AutoEnrollmentRouteDependencies,
  userId: string,
  hostname: string | null,
): string => `agent:${hostname === null ? randomBytes(32).toString('hex') : accountDigest(`${userId}|${hostname}`)}`;

/** Enrolls an agent that has presented the tenant's secret. */
async function enrollAgent(
  {
    request,
    services,
    run,
  }: Pick<
    HandlerContext<undefined, undefined, unknown, undefined, AutoEnrollmentRouteDependencies>,
    'request' | 'services' | 'run'
  >,
  tenantId: TenantId,
  body: AutoEnrollment,
) {
  const { upn, sid = null } = body;
  const userId = await syncedUser(services, tenantId, { upn, sid });
  if (userId === undefined) throw new FailureError(notFound('employee_not_found'));
  const { hostname = null, osType = null, osVersion = null, agentVersion = null } = body.deviceInfo ?? {};
  const deviceFingerprint = fingerprintOf(services, userId, hostname);
  const accessKey = randomBytes(32).toString('base64url');
  const accessKeyDigest = createHash('sha256').update(accessKey).digest('hex');
  const shown = await identifyDevice(request, services);
  return enrollmentTargetOf(
    services,
    tenantId,
    { fingerprint: deviceFingerprint, userId: null, tokenId: null, shown },
    async (target) => {
      const { deviceId, besideDeviceId } = target;
      const certificateSerial = shown?.deviceId === deviceId ? shown.certificateSerial : null;
      const input = {
        deviceId,
        besideDeviceId,
        certificateSerial,
        userId,
        accessKeyDigest,
        publicPoint: body.csr ?? null,
        device: { deviceFingerprint, hostname, osType, osVersion, agentVersion },
      };
      const { result } = await run(autoEnrollDevice, input, {
        tenantId,
        actor: { kind: 'device', id: deviceId },
      });
      const { certificatePem, privateKeyPem } = result.certificate;
      const bundle = certificatePem + (privateKeyPem ?? '') + result.caCertificatePem;
      return {
        success: true,
        userId,
        accessKey,
        deviceId,
        certificateData: Buffer.from(bundle).toString('base64'),
      };
    },
  );
}

export const autoEnrollmentRoutes: RouteGroup<AutoEnrollmentRouteDependencies> = {
  area: 'enroll',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/enroll/auto',
      access: openAccess('enroll'),
      summary: 'Enroll the agent of a synchronized user',
      operation: 'enrollAgent',
      takes: { 'X-Tenant-ID': 'required', 'X-Enrollment-Secret': 'required' },
      refuses: [
        'not_found',
        'tls_required',
        'enrollment_running',
        'certificate_authority_missing',
        'certificate_authority_not_valid',
        'employee_not_found',
        'enrollment_license_expired',
      ],
      description:
        "Needs the tenant's agent secret as `X-Enrollment-Secret`; without it, every request gets the same 503. An administrator must confirm the device before it can show verification codes.",
      body: autoEnrollment,
      response: z.object({
        success: z.literal(true),
        userId: z.uuid(),
        accessKey: z.string(),
        deviceId: z.uuid(),
        certificateData: z.string(),
      }),
      refusal,
      refusalView,
      handle: async ({ request, reply, body, services, run }) => {
        const { headers } = request;
        refuseWithoutTls(request, services);
        refuseOtherTenant(request, body);
        const tenantId = asTenantId(body.tenantId);
        if (!(await showsSecret(services, tenantId, headers['x-enrollment-secret']))) {
          // Not thrown: anonymous callers can cause this at will, so it must not be logged as an error.
          reply.status(NOT_OFFERED.status);
          return refusal(NOT_OFFERED);
        }
        return services.limits.certificates.run(tenantId, () =>
          enrollAgent({ request, services, run }, tenantId, body),
        );
      },
    }),
  ],
};
