import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { renewDeviceCertificate } from '../../../commands/devices/renew-device-certificate.ts';
import { enrollDevice, FINGERPRINT_MOVED, type EnrollDevice } from '../../../commands/enrollment/enroll-device.ts';
import { fingerprintClaim } from '../../domain/devices/device.ts';
import { browserTypes, osTypes } from '../../domain/devices/events.ts';
import { streamSubject } from '../../kernel/aggregate.ts';
import { FailureError, unavailable } from '../../kernel/failure.ts';
import type { TenantId } from '../../kernel/ids.ts';
import type { DeviceCertificate } from '../../pki/device-certificate.ts';
import { device, open } from '../access.ts';
import { route, type Call, type RouteGroup } from '../route.ts';
import { tenantOfHeader } from '../tenant-header.ts';

/** Names of families, whatever the case (choice OP-099). */
const family = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z
    .string()
    .transform((text) => text.trim().toLowerCase())
    .pipe(z.enum(names));
const version = z.string().trim().min(1).max(64);

const enrollmentBody = z.object({
  enrollmentToken: z.string().min(1).max(512),
  deviceFingerprint: z.string().trim().min(1).max(512),
  browserType: family(browserTypes),
  browserVersion: version.nullish(),
  osType: family(osTypes).nullish(),
  osVersion: version.nullish(),
  extensionVersion: version,
});

const enrolledView = z.object({
  clientCertificate: z.string(),
  clientPrivateKey: z.string(),
  caCertificate: z.string(),
  deviceId: z.uuid(),
  userId: z.uuid(),
  expiresAt: z.iso.datetime(),
});

interface Enrolled {
  readonly userId: string;
  readonly expiresAt: string;
  readonly certificate: DeviceCertificate;
  readonly caCertificatePem: string;
}

const answerOf = (deviceId: string, { userId, expiresAt, certificate, caCertificatePem }: Enrolled): z.output<typeof enrolledView> => ({
  clientCertificate: certificate.certificatePem,
  clientPrivateKey: certificate.privateKeyPem,
  caCertificate: caCertificatePem,
  deviceId,
  userId,
  expiresAt,
});

type Open = Pick<Call<undefined, undefined, unknown, undefined>, 'run' | 'services'>;

/** Requests with one fingerprint may overtake each other; each turn means that another one got through. */
const MOST_TURNS = 8;

async function enroll({ run, services }: Open, tenantId: TenantId, input: Omit<EnrollDevice, 'deviceId'>): Promise<z.output<typeof enrolledView>> {
  for (let turn = 1; turn <= MOST_TURNS; turn += 1) {
    const holder = await services.ports.claimHolder(tenantId, fingerprintClaim(input.device.deviceFingerprint));
    const deviceId = holder === undefined ? randomUUID() : streamSubject(holder);
    try {
      const { result } = await run(enrollDevice, { ...input, deviceId }, { tenantId, actor: { kind: 'device', id: deviceId } });
      return answerOf(deviceId, result);
    } catch (error) {
      if (!(error instanceof FailureError) || error.failure !== FINGERPRINT_MOVED) throw error;
    }
  }
  throw new FailureError(unavailable());
}

export const enrollRoutes: RouteGroup = {
  area: 'enroll',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/enroll/certificate',
      access: open('enroll'),
      summary: 'Exchange an enrollment token for a device certificate; the private key is shown once and not kept',
      body: enrollmentBody,
      answer: enrolledView,
      handle: ({ run, services, request, body }) => {
        const { enrollmentToken, browserVersion = null, osType = null, osVersion = null, ...described } = body;
        const device = { ...described, browserVersion, osType, osVersion, hostname: null, agentVersion: null };
        return enroll({ run, services }, tenantOfHeader(request), { enrollmentToken, device });
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/ext/certificate/renew',
      access: device,
      summary: 'The next certificate, in the last 30 days of the current one',
      answer: enrolledView,
      handle: async ({ run, principal: { deviceId, certificateSerial } }) => {
        const { result } = await run(renewDeviceCertificate, { deviceId, certificateSerial });
        return answerOf(deviceId, result);
      },
    }),
  ],
};
