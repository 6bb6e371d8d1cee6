import { timingSafeEqual } from 'node:crypto';
import type { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { canonicalJson } from '../../../platform/kernel/canonical-json.ts';
import type { ChainKey } from './chain-key.ts';
import { GENESIS, type ChainHead } from './entry.ts';
import { auditHeadEvents, type sealSchema } from './events.ts';

/** A sealed chain head. Seals are linked to each other, so that removing one is detected. */
export type SealedHead = Readonly<z.output<typeof sealSchema>>;

/** Before the first seal. */
export const UNSEALED: SealedHead = { ...GENESIS, position: '0', previous: GENESIS.hash, mac: GENESIS.hash };

export const sealHead = (
  key: ChainKey,
  tenantId: TenantId,
  head: ChainHead,
  position: bigint,
  before: SealedHead,
): SealedHead => {
  const unsealed = { sequence: head.sequence, hash: head.hash, position: String(position), previous: before.mac };
  return { ...unsealed, mac: macOf(key, tenantId, unsealed) };
};

export function isGenuineSeal(key: ChainKey, tenantId: TenantId, { mac, ...unsealed }: SealedHead): boolean {
  const given = Buffer.from(mac, 'hex');
  const own = Buffer.from(macOf(key, tenantId, unsealed), 'hex');
  return given.length === own.length && timingSafeEqual(given, own);
}

/** The prefix keeps a seal from being passed off as an entry's hash: that input begins with 64 hexadecimal digits. */
const macOf = (
  key: ChainKey,
  tenantId: TenantId,
  { sequence, hash, position, previous }: Omit<SealedHead, 'mac'>,
): string => key.mac('audit head ', canonicalJson({ tenantId, sequence, hash, position, previous }));

/** The newest seal of a tenant. */
export const auditHead = defineAggregate<SealedHead, typeof auditHeadEvents>(
  auditHeadEvents,
  UNSEALED,
  (_, { data }) => data,
);

/** Each tenant has one such stream. */
export const auditHeadStream = (tenantId: TenantId): string => streamName('auditHead', tenantId, tenantId);
