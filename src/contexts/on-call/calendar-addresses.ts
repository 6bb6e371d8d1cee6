import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TenantId } from '../../platform/kernel/ids.ts';

export interface CalendarAddress {
  readonly tenantId: TenantId;
  readonly scheduleId: string;
  /** Of the calendar that is shared now. Another one is shared to revoke this address. */
  readonly calendarId: string;
}

/**
 * Addresses at which calendar programs, which have no session, read the shifts of one schedule. The signature covers
 * tenant, schedule and calendar. It does not expire: the schedule says which calendar is shared.
 */
export class CalendarAddresses {
  readonly #keys: readonly [Buffer, ...Buffer[]];

  /** Addresses are signed with the first key and recognized with any of them. */
  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.#keys = keys;
  }

  /** The identifying part is in the query, which is not logged. */
  address(base: string, to: CalendarAddress): string {
    const signature = signed(this.#keys[0], to).toString('hex');
    return `${base.replace(/\/+$/, '')}/api/v1/on-call/${to.tenantId}/${to.scheduleId}/calendar.ics?calendar=${to.calendarId}&signature=${signature}`;
  }

  isGenuine(to: CalendarAddress, signature: string): boolean {
    const given = /^[0-9a-f]{64}$/.test(signature) ? Buffer.from(signature, 'hex') : Buffer.alloc(32);
    return this.#keys.map((key) => timingSafeEqual(given, signed(key, to))).includes(true);
  }
}

const signed = (key: Buffer, { tenantId, scheduleId, calendarId }: CalendarAddress): Buffer =>
  createHmac('sha256', key).update(`${tenantId}\n${scheduleId}\n${calendarId}`).digest();
