import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { agentByKey } from '../../../../queries/devices/agent-by-key.ts';
import { acceptsAccessKey } from '../../../contexts/devices/domain/device.ts';
import { orThrow } from '../../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../../../platform/kernel/ids.ts';
import type { DevicePrincipal } from '../principal.ts';
import { isAllowedByUser } from './device-user.ts';
import type { Lookups } from '../../../contexts/identity/lookups.ts';
import type { TenantReads } from '../../../platform/kernel/query.ts';

export interface AgentKeyDependencies {
  readonly lookups: Lookups;
  vitalReads(tenantId: TenantId): TenantReads;
}

/** 32 octets in base64url. */
const KEY = /^[A-Za-z0-9_-]{43}$/;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const equal = (a: string, b: string) => timingSafeEqual(Buffer.from(sha256(a)), Buffer.from(sha256(b)));

/** The device whose agent sends its access key (`X-Access-Key`, choice OP-173). Undefined unless the key is current. */
export async function identifyAgent(
  { headers }: FastifyRequest,
  services: AgentKeyDependencies,
  evenToBeWiped: boolean,
): Promise<DevicePrincipal | undefined> {
  const key = headers['x-access-key'];
  if (typeof key !== 'string' || !KEY.test(key)) return undefined;
  const accessKeyDigest = sha256(key);
  const known = orThrow(await agentByKey(services.vitalReads(INSTALLATION), { accessKeyDigest }));
  if (!known) return undefined;
  const tenantId = asTenantId(known.tenant);
  const device = await services.lookups.device(tenantId, known.device_id);
  if (!device || !acceptsAccessKey(device, (digest) => equal(digest, accessKeyDigest))) return undefined;
  if (!(await isAllowedByUser(services, tenantId, device, evenToBeWiped))) return undefined;
  return { kind: 'device', tenantId, deviceId: known.device_id, userId: device.userId, certificateSerial: '' };
}
