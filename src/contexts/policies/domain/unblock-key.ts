import { randomInt } from 'node:crypto';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { unblockKeyEvents } from './unblock-key-events.ts';

export interface UnblockKeyState {
  readonly status: 'none' | 'active' | 'used' | 'revoked';
  readonly domain: string;
  readonly userId: string | null;
  readonly deviceId: string | null;
  readonly userDeactivations: number;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly use: { readonly deviceId: string; readonly userId: string; readonly usedAt: string } | undefined;
}

const initial: UnblockKeyState = {
  status: 'none',
  domain: '',
  userId: null,
  deviceId: null,
  userDeactivations: 0,
  expiresAt: '',
  use: undefined,
};

export const unblockKey = defineAggregate<UnblockKeyState, typeof unblockKeyEvents>(
  unblockKeyEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'UnblockKeyCreated': {
        const { domain, userId, deviceId, userDeactivations, expiresAt } = event.data;
        return { status: 'active', domain, userId, deviceId, userDeactivations, expiresAt, use: undefined };
      }
      case 'UnblockKeyUsed':
        return { ...state, status: 'used', use: event.data };
      case 'UnblockKeyRevoked':
        return { ...state, status: 'revoked' };
    }
  },
);

export const unblockKeyStream = (tenantId: TenantId, unblockKeyId: string): string =>
  streamName('unblockKey', tenantId, unblockKeyId);

/** Omits letters and digits that are confused when read out by telephone. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const HALF = 4;

/** `XXXX-XXXX` (choice OP-116): short enough to read out, valid once and briefly. */
export function newUnblockKey(pickInteger: (below: number) => number = randomInt): string {
  const half = () => Array.from({ length: HALF }, () => ALPHABET[pickInteger(ALPHABET.length)]).join('');
  return `${half()}-${half()}`;
}

/** Normalizes a key as typed by a person. */
const spelled = (key: string): string => key.toUpperCase().replaceAll(/[\s-]/g, '');

/** Held by the key's stream, also after its use: a device may repeat a request whose response got lost. */
export const unblockKeyClaim = (key: string): Claim => ({ kind: 'unblock-key', value: spelled(key) });
