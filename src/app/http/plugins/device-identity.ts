import type { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { pinDeviceCertificate } from '../../../../commands/devices/pin-device-certificate.ts';
import {
  acceptsCertificate,
  heldCertificate,
  isEndedByWipe,
  type DeviceState,
} from '../../../contexts/devices/domain/device.ts';
import { FailureError, isFailure, unauthenticated, type Failure } from '../../../platform/kernel/failure.ts';
import { isUuid, asTenantId, type TenantId } from '../../../platform/kernel/ids.ts';
import { readDeviceCertificate } from '../../../platform/pki/device-claims.ts';
import {
  trustAuthority,
  verifyDeviceCertificate,
  type TrustedAuthority,
} from '../../../platform/pki/device-identity.ts';
import type { TenantState } from '../../../contexts/tenants/domain/tenant.ts';
import type { DevicePrincipal } from '../principal.ts';
import { forwardedCertificate, type ClientCertificateHeader } from './forwarded-certificate.ts';
import { isAllowedByUser } from './device-user.ts';
import type { Executor } from '../../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../../commands/ports.ts';
import type { Lookups } from '../../../contexts/identity/lookups.ts';

export interface DeviceIdentityDependencies {
  readonly executor: Executor<CommandPorts>;
  readonly lookups: Lookups;
  readonly config: { readonly clientCertificateHeader: ClientCertificateHeader };
  trustsProxy(address: string | undefined): boolean;
}

/** The verified claims of a certificate. Whether the device may still connect is checked on every request. */
interface ProvenCertificate {
  readonly tenantId: TenantId;
  readonly deviceId: string;
  readonly serialNumber: string;
  readonly publicKeySha256: string;
  /** Fingerprint of the authority that signed it. */
  readonly authoritySha256: string;
  /** Epoch milliseconds. */
  readonly notAfter: number;
}

/** By connection: its certificate cannot change, so it is verified once. */
const proven = new WeakMap<object, ProvenCertificate>();

/**
 * The device of a request, by the certificate of the TLS handshake or, behind a trusted proxy, of the header in
 * `CLIENT_CERTIFICATE_HEADER` (choice OP-162). Undefined unless all checks succeed.
 */
export async function identifyDevice(
  request: FastifyRequest,
  services: DeviceIdentityDependencies,
): Promise<DevicePrincipal | undefined> {
  const device = await deviceOrRefusal(request, services, { evenToBeWiped: false });
  return isFailure(device) ? undefined : device;
}

/**
 * Like `identifyDevice`, with the reason for the holder of a certificate that is not accepted any more. Undefined for
 * everybody who has not proved to hold a certificate of a tenant: they learn nothing.
 */
export async function deviceOrRefusal(
  request: FastifyRequest,
  services: DeviceIdentityDependencies,
  { evenToBeWiped, confirmsWipe }: { readonly evenToBeWiped: boolean; readonly confirmsWipe?: true },
): Promise<DevicePrincipal | Failure | undefined> {
  const certificate = await provenCertificateOf(request, services);
  if (!certificate) return undefined;
  const now = Date.now();
  if (certificate.notAfter <= now) return unauthenticated('certificate_expired');
  const { tenantId, deviceId, serialNumber: certificateSerial } = certificate;
  const device = await services.lookups.device(tenantId, deviceId);
  if (!device) return REVOKED;
  const principal = { kind: 'device', tenantId, deviceId, userId: device.userId, certificateSerial } as const;
  if (!(acceptsCertificate(device, certificate, now) || (await adopts(device, certificate, services))))
    return confirmsWipe && isEndedByWipe(device, certificate, now)
      ? { ...principal, onlyConfirmsWipe: REVOKED }
      : REVOKED;
  if (await isAllowedByUser(services, tenantId, device, false)) return principal;
  if (!(await isAllowedByUser(services, tenantId, device, evenToBeWiped))) return SUSPENDED;
  return confirmsWipe ? { ...principal, onlyConfirmsWipe: SUSPENDED } : principal;
}

const REVOKED = unauthenticated('certificate_revoked');
const SUSPENDED = unauthenticated('device_suspended');

/**
 * Certificates from before public keys were recorded are bound to the first key that presents them, so that no other key can
 * use their serial number later. Not if an administrator has removed the authority, whose key may be compromised.
 */
async function adopts(
  device: DeviceState,
  { tenantId, deviceId, serialNumber, publicKeySha256, authoritySha256 }: ProvenCertificate,
  services: DeviceIdentityDependencies,
): Promise<boolean> {
  if (heldCertificate(device, serialNumber, Date.now())?.publicKeySha256 !== null) return false;
  const tenant = await services.lookups.tenant(tenantId, tenantId);
  if (!tenant || tenant.removedAuthorities.has(authoritySha256)) return false;
  const actor = { kind: 'device', id: deviceId } as const;
  const pinned = await services.executor.execute(
    pinDeviceCertificate,
    { deviceId, serialNumber, publicKeySha256 },
    { tenantId, actor },
  );
  if (isFailure(pinned) && pinned.kind !== 'unauthenticated') throw new FailureError(pinned);
  return !isFailure(pinned);
}

/** By request: the rate limit and authentication both need it. */
const forwarded = new WeakMap<FastifyRequest, Promise<ProvenCertificate | undefined>>();

/** The certificate of a request, if an authority of a tenant signed it and it has not expired. */
export async function presentedCertificateOf(
  request: FastifyRequest,
  services: DeviceIdentityDependencies,
): Promise<ProvenCertificate | undefined> {
  const certificate = await provenCertificateOf(request, services);
  return certificate && certificate.notAfter > Date.now() ? certificate : undefined;
}

/** Also returns a certificate that has expired since. */
async function provenCertificateOf(
  request: FastifyRequest,
  services: DeviceIdentityDependencies,
): Promise<ProvenCertificate | undefined> {
  const socket = request.raw.socket as Partial<TLSSocket> & object;
  const known = proven.get(socket);
  if (known) return known;
  if (socket.encrypted) {
    const raw = socket.getPeerCertificate?.().raw;
    const certificate = raw && (await prove(raw, services));
    if (certificate) proven.set(socket, certificate);
    return certificate;
  }
  const name = services.config.clientCertificateHeader;
  const header = request.headers[name.toLowerCase()];
  // Only a trusted proxy as direct peer may forward a certificate.
  if (typeof header !== 'string' || !services.trustsProxy(request.socket.remoteAddress)) return undefined;
  let proving = forwarded.get(request);
  if (!proving) {
    const certificate = forwardedCertificate(name, header);
    proving = certificate === undefined ? Promise.resolve(undefined) : prove(certificate, services);
    forwarded.set(request, proving);
  }
  return proving;
}

async function prove(
  presented: Buffer | string,
  services: DeviceIdentityDependencies,
): Promise<ProvenCertificate | undefined> {
  const read = readDeviceCertificate(presented);
  if ('refused' in read || !isUuid(read.claims.tenantId)) return undefined;
  const tenantId = asTenantId(read.claims.tenantId);
  const tenant = await services.lookups.tenant(tenantId, tenantId);
  if (!tenant) return undefined;
  // An expired certificate is verified as of its last moment, so that its holder, and nobody else, learns the reason.
  const at = Math.min(Date.now(), read.claims.notAfter);
  const verdict = verifyDeviceCertificate(presented, authoritiesOf(tenantId, tenant), at);
  if ('refused' in verdict) return undefined;
  const { deviceId, serialNumber, publicKeySha256, authoritySha256, notAfter } = verdict;
  return { tenantId, deviceId, serialNumber, publicKeySha256, authoritySha256, notAfter };
}

const parsed = new WeakMap<TenantState, readonly TrustedAuthority[]>();

function authoritiesOf(tenantId: TenantId, tenant: TenantState): readonly TrustedAuthority[] {
  let authorities = parsed.get(tenant);
  if (!authorities) {
    authorities = tenant.trustedAuthorities.map((pem) => trustAuthority(tenantId, pem));
    parsed.set(tenant, authorities);
  }
  return authorities;
}
