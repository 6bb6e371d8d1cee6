import { removeMobileDevice } from '../../../../commands/mobile/remove-mobile-device.ts';
import type { CommandPorts } from '../../../../commands/ports.ts';
import type { Executor } from '../../../platform/execution/executor.ts';
import { system } from '../../../platform/kernel/actor.ts';
import { isFailure } from '../../../platform/kernel/failure.ts';
import type { AggregateReader } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Vault } from '../../../platform/vault/vault.ts';
import type { MobilePlatform } from '../../mobile/domain/events.ts';
import { mobileAccount, mobileAccountStream, pushTokenLocation } from '../../mobile/domain/mobile-account.ts';
import { mayUseMobile } from '../../mobile/domain/mobile-eligibility.ts';
import { mobileAccess, mobileAccessStream } from '../../settings/domain/mobile-access.ts';
import { tenant, tenantStream } from '../../tenants/domain/tenant.ts';
import type { AttemptOutcome, Channel, OutboundMessage } from '../channel.ts';
import type { Recipient } from '../domain/message.ts';
import { notificationSettings, notificationSettingsStream } from '../domain/settings.ts';
import { pushContentOf } from './push-content.ts';
import type { PushService } from './push-service.ts';

export interface PushPorts {
  readonly aggregates: AggregateReader;
  readonly vault: Pick<Vault, 'get'>;
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly services: Readonly<Record<MobilePlatform, PushService>>;
}

type ToDevice = Extract<Recipient, { kind: 'push' }>;

const UNRECORDED = 'the push service does not know the device any more, which could not be recorded yet';

/** Sends messages to mobile devices. A device whose token is gone is removed. */
export class PushChannel implements Channel {
  readonly name = 'push';
  readonly #ports: PushPorts;

  constructor(ports: PushPorts) {
    this.#ports = ports;
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<AttemptOutcome> {
    const { tenantId, recipient, subject, messageId } = message;
    if (recipient.kind !== 'push') return { kind: 'refused', reason: 'the recipient has no device' };
    const content = pushContentOf(subject);
    if (!content) return { kind: 'refused', reason: 'this kind of message is not pushed' };
    const refused = await this.#refused(tenantId, recipient.adminId, subject.kind === 'test');
    if (refused !== undefined) return { kind: 'refused', reason: refused };
    const { devices } = await this.#ports.aggregates.load(
      mobileAccount,
      mobileAccountStream(tenantId, recipient.adminId),
    );
    const device = devices.get(recipient.deviceId);
    if (!device) return { kind: 'refused', reason: 'the device is not registered any more' };
    const location = pushTokenLocation(recipient.adminId);
    const token = await this.#ports.vault.get(tenantId, location, device.tokenRef);
    // The app has just registered again: its new token is in the next attempt.
    if (!token) return { kind: 'deferred', reason: 'the push token was replaced meanwhile' };
    const push = { platform: device.platform, token: token.toString(), content, messageId };
    const outcome = await this.#ports.services[device.platform].send(push, signal);
    if (outcome.kind !== 'gone') return outcome;
    if (!(await this.#remove(tenantId, recipient))) return { kind: 'deferred', reason: UNRECORDED };
    return { kind: 'refused', reason: 'the push service does not know the device any more: it was removed' };
  }

  async #refused(tenantId: TenantId, adminId: string, isTest: boolean): Promise<string | undefined> {
    const { aggregates } = this.#ports;
    const [{ values }, { admins }, byRole] = await Promise.all([
      aggregates.load(notificationSettings, notificationSettingsStream(tenantId)),
      aggregates.load(tenant, tenantStream(tenantId)),
      aggregates.load(mobileAccess, mobileAccessStream(tenantId)),
    ]);
    if (!values.pushEnabled && !isTest) return 'push is switched off';
    return mayUseMobile(admins.get(adminId), byRole) ? undefined : 'the account has no mobile access';
  }

  /** Returns false if that could not be recorded. A device that was removed meanwhile is as it should be. */
  async #remove(tenantId: TenantId, { adminId, deviceId }: ToDevice): Promise<boolean> {
    const input = { adminId, deviceId, reason: 'token_gone' as const };
    const removed = await this.#ports.executor.execute(removeMobileDevice, input, {
      tenantId,
      actor: system('outbox'),
    });
    return !isFailure(removed) || removed.kind === 'notFound';
  }
}
