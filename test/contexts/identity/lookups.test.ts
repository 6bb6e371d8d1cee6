import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deviceEvents } from '../../../src/contexts/devices/domain/events.ts';
import { deviceStream } from '../../../src/contexts/devices/domain/device.ts';
import { tenantEvents } from '../../../src/contexts/tenants/domain/events.ts';
import { tenantStream } from '../../../src/contexts/tenants/domain/tenant.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { liveLookups, type Lookups } from '../../../src/contexts/identity/lookups.ts';
import type { DomainEvent } from '../../../src/platform/kernel/event.ts';
import { CACHE_MODEL, InvalidatingCache } from '../../../src/platform/projector/invalidating-cache.ts';
import {
  eventually,
  log,
  openProjectorApplication,
  type ProjectorApplication,
} from '../../platform/projector/projector-application.ts';
import { TENANTS } from '../../platform/projector/ledger.ts';

const [TENANT] = TENANTS as [(typeof TENANTS)[number]];

describe('the look-ups of authentication', () => {
  let application: ProjectorApplication;
  let cache: InvalidatingCache;
  let lookups: Lookups;
  let reads = 0;

  beforeEach(async () => {
    application = await openProjectorApplication([deviceEvents, tenantEvents]);
    const loader = new AggregateLoader(application.store, application.codec);
    const aggregates: typeof loader = Object.assign(Object.create(loader) as typeof loader, {
      load: (...args: Parameters<typeof loader.load>) => {
        reads += 1;
        return loader.load(...args);
      },
    });
    cache = new InvalidatingCache({
      subscription: application.subscription,
      freshness: application.freshness,
      aggregates,
      log,
    });
    cache.start();
    lookups = liveLookups(cache);
  });
  afterEach(async () => {
    await cache.stop();
    await application.close();
  });

  const happened = async (stream: string, event: DomainEvent) =>
    expect(await application.freshness.waitFor([CACHE_MODEL], await application.happen(stream, [event]), 25_000)).toBe(
      true,
    );
  const cached = (look: () => Promise<unknown>) =>
    eventually('a cached state', async () => {
      const before = reads;
      await look();
      return reads === before;
    });

  it('show a device as of its newest event, whatever its type', async () => {
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

  it('show a tenant as of its newest event, whatever its type', async () => {
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
