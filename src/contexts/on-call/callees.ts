import type { NamedPerson } from '../../../queries/notifications/push-audience.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { Recipient } from '../notifications/domain/message.ts';
import { notificationSettings, notificationSettingsStream } from '../notifications/domain/settings.ts';
import { tenantSettings } from '../settings/domain/tenant-settings.resource.ts';
import type { Callee } from './domain/page-order.ts';

/** The ways that a tenant has switched on. */
export interface Ways {
  readonly push: boolean;
  readonly email: boolean;
}

export async function waysOf(aggregates: AggregateReader, tenantId: TenantId): Promise<Ways> {
  const [{ values }, tenant] = await Promise.all([
    aggregates.load(notificationSettings, notificationSettingsStream(tenantId)),
    aggregates.load(tenantSettings.aggregate, tenantSettings.stream(tenantId)),
  ]);
  const hasServer = values.smtpHost !== null && values.smtpFrom !== null;
  return { push: values.pushEnabled, email: tenant.values.alertEmailEnabled && hasServer };
}

/** A page takes all ways to a person. E-mail first: it has one address, and devices may be many. */
function recipientsOf(person: NamedPerson, ways: Ways): Recipient[] {
  const isPushed = ways.push && person.mayUseMobile && person.preferences.pushEnabled;
  return [
    ...(ways.email ? [{ kind: 'email' as const, address: person.email }] : []),
    ...(isPushed ? person.deviceIds : []).map((deviceId) => ({
      kind: 'push' as const,
      deviceId,
      adminId: person.adminId,
    })),
  ];
}

/** The people of an order, each with the ways to them or the reason why there is none. */
export function calleesOf(order: readonly string[], people: readonly NamedPerson[], ways: Ways): Callee[] {
  const byId = new Map(people.map((person) => [person.adminId, person]));
  return order.map((adminId) => {
    const person = byId.get(adminId);
    if (!person?.isActive) return { adminId, unreachable: 'inactive' };
    const recipients = recipientsOf(person, ways);
    return recipients.length === 0 ? { adminId, unreachable: 'no_way' } : { adminId, recipients };
  });
}

/** Addresses stand before devices. */
export function superAdminsOf(people: readonly NamedPerson[], ways: Ways): Recipient[] {
  const all = people
    .filter(({ role, isActive }) => role === 'super_admin' && isActive)
    .flatMap((person) => recipientsOf(person, ways));
  return [...all.filter(({ kind }) => kind === 'email'), ...all.filter(({ kind }) => kind === 'push')];
}
