import { z } from 'zod';
import { deleteDevice } from '../../../../../commands/devices/delete-device.ts';
import { renewDeviceCertificate } from '../../../../../commands/devices/renew-device-certificate.ts';
import { createPlaceholderEmployee } from '../../../../../commands/employees/create-placeholder-employee.ts';
import { enrollDevice } from '../../../../../commands/enrollment/enroll-device.ts';
import { browserTypes, osTypes } from '../../../../contexts/devices/domain/events.ts';
import {
  enrollmentToken,
  enrollmentTokenStream,
  identifyToken,
  isRedeemable,
} from '../../../../contexts/enrollment/domain/enrollment-token.ts';
import { employee, employeeStream } from '../../../../contexts/employees/domain/employee.ts';
import {
  extensionAddress,
  type ExtensionAddressSettings,
} from '../../../../contexts/enrollment/domain/extension-address.ts';
import { tenant, tenantStream } from '../../../../contexts/tenants/domain/tenant.ts';
import { FailureError } from '../../../../platform/kernel/failure.ts';
import type { ReturnedTokens } from '../../../../contexts/enrollment/returned-tokens.ts';
import { deviceAccess, openAccess } from '../../access.ts';
import {
  enrollmentTargetNow,
  enrollmentTargetOf,
  type DeviceOfFingerprintDependencies,
  type EnrollmentTarget,
} from './enrollment-target.ts';
import { credentialForm, enrolledView, enrolledViewOf, possibleForm } from './device-credentials.ts';
import { giveBackIfRepeatable } from '../../plugins/given-back.ts';
import { identifyDevice, type DeviceIdentityDependencies } from '../../plugins/device-identity.ts';
import { actorOf } from '../../principal.ts';
import { refuseWithoutTls } from '../../confidential-request.ts';
import { routeWith, type CallerContext, type HandlerContext, type RouteGroup } from '../../route.ts';
import { requiredTenant } from '../../tenant-header.ts';
import { familyName } from '../../validation.ts';
import type { Logger } from 'pino';
import type { Limits } from '../../../config/limits.ts';
import type { WithAggregates } from '../../../../../commands/ports.ts';
import type { Freshness } from '../../../../platform/projector/freshness.ts';
import type { Position } from '../../../../platform/kernel/event.ts';

export type EnrollRouteDependencies = DeviceIdentityDependencies &
  DeviceOfFingerprintDependencies & {
    readonly returnedTokens: ReturnedTokens;
    readonly log: Logger;
    readonly config: ExtensionAddressSettings & { readonly devMode: boolean };
    readonly ports: WithAggregates;
    readonly limits: Pick<Limits, 'certificates'>;
    readonly freshness: Freshness;
    head(): Promise<Position>;
  };

const route = routeWith<EnrollRouteDependencies>();

const version = z.string().trim().min(1).max(64);

const enrollmentBody = z
  .object({
    enrollmentToken: z.string().min(1).max(512),
    deviceFingerprint: z.string().trim().min(1).max(512),
    browserType: familyName(browserTypes),
    browserVersion: version.nullish(),
    osType: familyName(osTypes).nullish(),
    osVersion: version.nullish(),
    extensionVersion: version,
    ...credentialForm,
  })
  .check(possibleForm);

type Open = Pick<HandlerContext<undefined, undefined, unknown, undefined, EnrollRouteDependencies>, 'run' | 'services'>;

/**
 * Creates a placeholder employee for the device. The device is already enrolled, so other errors are only logged: the
 * reaction to the enrollment retries. If the last seat was just taken, the enrollment is reversed.
 */
async function givePlaceholder(
  { run, services }: Open,
  owner: { userId: string; deviceId: string },
  behalf: CallerContext,
): Promise<void> {
  try {
    const { position } = await run(createPlaceholderEmployee, owner, behalf);
    if (position === undefined) await seesEmployees(services);
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    const { status } = await services.ports.aggregates.load(employee, employeeStream(behalf.tenantId, owner.userId));
    if (status !== 'none') return seesEmployees(services);
    if (error.failure.kind === 'forbidden') {
      await run(deleteDevice, { deviceId: owner.deviceId }, behalf);
      throw error;
    }
    services.log.warn({ deviceId: owner.deviceId, reason: error.message }, 'an enrolled device has no user yet');
  }
}

/** If the reaction was faster, wait until its event is projected as well. */
async function seesEmployees({ freshness, head }: Open['services']): Promise<void> {
  await freshness.waitFor(createPlaceholderEmployee.freshens ?? [], await head());
}

export const enrollRoutes: RouteGroup<EnrollRouteDependencies> = {
  area: 'enroll',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/enroll/certificate',
      access: openAccess('enroll'),
      summary: 'Exchange an enrollment token for a device certificate',
      operation: 'enrollDevice',
      takes: { 'X-Tenant-ID': 'required' },
      refuses: [
        'certificate_authority_missing',
        'device_revoked',
        'invalid_enrollment_token',
        'license_user_limit',
        'tls_required',
        'enrollment_running',
        'certificate_authority_not_valid',
      ],
      description:
        "With `csr`, the device generates its key itself; otherwise the server does, returns it once and does not store it. A device that enrolled before keeps its id and user if the token is bound to that user, or the connection presents the device's certificate.",
      body: enrollmentBody,
      // The device stays with this address, which requests its certificate.
      response: enrolledView.extend({ apiEndpoint: z.string() }),
      handle: async ({ run, services, request, body }) => {
        const tenantId = requiredTenant(request);
        if (!body.csr) refuseWithoutTls(request, services);
        const { enrollmentToken: token, csr = null, format, ...about } = body;
        const { browserVersion = null, osType = null, osVersion = null, ...required } = about;
        const described = { ...required, browserVersion, osType, osVersion, hostname: null, agentVersion: null };
        const { tokenId, tokenDigest } = identifyToken(token);
        await services.returnedTokens.first(tenantId, tokenId);
        const [issued, shown] = await Promise.all([
          services.ports.aggregates.load(enrollmentToken, enrollmentTokenStream(tenantId, tokenId)),
          identifyDevice(request, services),
        ]);
        const enrolling = { fingerprint: body.deviceFingerprint, userId: issued.userId, shown, tokenId };
        const arrived = await enrollmentTargetNow(services, tenantId, enrolling);
        const enrollAs = async (target: EnrollmentTarget) => {
          const { deviceId, besideDeviceId, expectedSerial } = target;
          const behalf: CallerContext = { tenantId, actor: { kind: 'device', id: deviceId } };
          const certificateSerial = shown?.deviceId === deviceId ? shown.certificateSerial : null;
          giveBackIfRepeatable(request, () =>
            services.returnedTokens.add({ tenantId, tokenId, deviceId, actor: actorOf(undefined, request) }),
          );
          const { result } = await run(
            enrollDevice,
            {
              deviceId,
              besideDeviceId,
              expectedSerial,
              certificateSerial,
              enrollmentToken: token,
              publicPoint: csr,
              device: described,
            },
            behalf,
          );
          await givePlaceholder({ run, services }, { userId: result.userId, deviceId }, behalf);
          const { externalBaseUrl } = await services.ports.aggregates.load(tenant, tenantStream(tenantId));
          return {
            ...enrolledViewOf(deviceId, result, format),
            apiEndpoint: extensionAddress(services.config, externalBaseUrl),
          };
        };
        const enroll = () => enrollmentTargetOf(services, tenantId, enrolling, enrollAs, arrived);
        // The tenant comes from a header. Without a valid token, do not use its share; the command refuses the request.
        return isRedeemable(issued, tokenDigest, Date.now())
          ? services.limits.certificates.run(tenantId, enroll)
          : enroll();
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/ext/certificate/renew',
      access: deviceAccess,
      summary: 'Renew the device certificate',
      refuses: ['renewal_not_due', 'certificate_authority_missing', 'certificate_authority_not_valid'],
      description:
        'Only in the last 30 days of the current certificate (409 before), which stays valid for 24 hours. The body is optional.',
      body: z.object(credentialForm).check(possibleForm).nullish(),
      response: enrolledView,
      handle: ({ run, services, body, principal: { tenantId, deviceId, certificateSerial } }) =>
        services.limits.certificates.run(tenantId, async () => {
          const publicPoint = body?.csr ?? null;
          const { result } = await run(renewDeviceCertificate, { deviceId, certificateSerial, publicPoint });
          return enrolledViewOf(deviceId, result, body?.format ?? 'pem');
        }),
    }),
  ],
};
