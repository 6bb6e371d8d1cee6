import { asTenantId, isUuid, type TenantId } from '../../../platform/kernel/ids.ts';

export interface ClientName {
  readonly tenantId: TenantId;
  /** The UUID of the client. */
  readonly id: string;
}

const octets = (uuid: string): string => uuid.replaceAll('-', '');
const uuidFrom = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

/**
 * The `clientId` of OAuth: tenant and client in one name, so that a token request needs no directory of clients, and
 * the look-up runs under the row-level security of that tenant. A forged tenant finds nothing.
 */
export const clientNameOf = ({ tenantId, id }: ClientName): string =>
  Buffer.from(octets(tenantId) + octets(id), 'hex').toString('base64url');

export function readClientName(name: string): ClientName | undefined {
  if (!/^[A-Za-z0-9_-]{43}$/.test(name)) return undefined;
  const hex = Buffer.from(name, 'base64url').toString('hex');
  const [tenantId, id] = [uuidFrom(hex.slice(0, 32)), uuidFrom(hex.slice(32))];
  // A name has one spelling: base64url of 32 octets ignores two bits of the last character.
  if (!isUuid(tenantId) || !isUuid(id) || Buffer.from(hex, 'hex').toString('base64url') !== name) return undefined;
  return { tenantId: asTenantId(tenantId), id };
}
