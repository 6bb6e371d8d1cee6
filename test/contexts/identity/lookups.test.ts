import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deviceEvents } from '../../../src/contexts/devices/domain/events.ts';
import { deviceStream } from '../../../src/contexts/devices/domain/device.ts';
import { tenantEvents } from '../../../src/contexts/tenants/domain/events.ts';
import { tenantStream } from '../../../src/contexts/tenants/domain/tenant.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { liveLookups, type Lookups } from '../../../src/contexts/identity/lookups.ts';
import type { DomainEvent } from '../../../src/platform/kernel/event.ts';
import { LIVE_STATE, LiveState } from '../../../src/platform/projector/live-state.ts';
import { eventually, log, openHouse, type House } from '../../platform/projector/house.ts';
import { TENANTS } from '../../platform/projector/ledger.ts';

const [TENANT] = TENANTS as [(typeof TENANTS)[number]];

describe('what requests are checked against', () => {
  let house: House;
  let live: LiveState;
  let lookups: Lookups;
  let reads = 0;

  beforeEach(async () => {
    house = await openHouse([deviceEvents, tenantEvents]);
    const loader = new AggregateLoader(house.store, house.codec);
    const aggregates: typeof loader = Object.assign(Object.create(loader) as typeof loader, {
      load: (...args: Parameters<typeof loader.load>) => {
        reads += 1;
        return loader.load(...args);
      },
    });
    live = new LiveState({ tail: house.tail, freshness: house.freshness, aggregates, log });
    live.start();
    lookups = liveLookups(live);
  });
  afterEach(async () => {
    await live.stop();
    await house.close();
  });

  const happened = async (stream: string, event: DomainEvent) =>
    expect(await house.freshness.waitFor([LIVE_STATE], await house.happen(stream, [event]), 25_000)).toBe(true);
  const cached = (look: () => Promise<unknown>) =>
    eventually('a cached state', async () => {
      const before = reads;
      await look();
      return reads === before;
    });

  it('shows of a device what its newest event made of it, whatever event that is', async () => {
    const deviceId = randomUUID();
    const look = () => lookups.device(TENANT, deviceId);
    await happened(deviceStream(TENANT, deviceId), {
      type: 'DeviceRevoked',
      data: { deviceId, reason: 'revoked' },
    });
    await cached(look);
    await happened(deviceStream(TENANT, deviceId), { type: 'DeviceReenrollmentAllowed', data: { deviceId } });
    expect(await look()).toMatchObject({ mayReenroll: true });
  });

  it('shows of a tenant what its newest event made of it, whatever event that is', async () => {
    const look = () => lookups.tenant(TENANT, TENANT);
    await happened(tenantStream(TENANT), {
      type: 'TenantSetUp',
      data: { name: 'Acme', slug: 'acme', externalBaseUrl: 'https://acme.example' },
    });
    await cached(look);
    const adminId = randomUUID();
    await happened(tenantStream(TENANT), {
      type: 'AdminUserCreated',
      data: {
        adminId,
        email: 'ada@acme.example',
        accountDigest: 'digest',
        displayName: 'Ada',
        roleType: 'admin',
        passwordRef: randomUUID(),
        mustChangePassword: false,
        passwordExpiresAt: null,
      },
    });
    expect([...(await look())!.admins.keys()]).toEqual([adminId]);
  });
});
