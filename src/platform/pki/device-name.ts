import { asTenantId } from '../kernel/ids.ts';
import type { TenantId } from '../kernel/ids.ts';

/** The device that a certificate identifies. Both ids are UUIDs in lower case. */
export interface DeviceName {
  readonly tenantId: TenantId;
  readonly deviceId: string;
}

export const UUID_LENGTH = 36;

/** The name in subjectAltName; subject CN and O repeat it for people and older software. */
export const deviceUri = (tenantId: string, deviceId: string): string =>
  `spiffe://castellan/tenant/${tenantId}/device/${deviceId}`;

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const DEVICE_URI = new RegExp(`^${deviceUri(`(${UUID})`, `(${UUID})`)}$`);

/** Accepts one spelling only: `deviceUri` of the result is `uri` again. */
export function readDeviceUri(uri: string): DeviceName | undefined {
  const [, tenantId, deviceId] = DEVICE_URI.exec(uri) ?? [];
  return tenantId && deviceId ? { tenantId: asTenantId(tenantId), deviceId } : undefined;
}
