import type { AggregateReader } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { DestinationChoice } from '../../../platform/outbound/destinations.ts';
import type { GuardedConnect } from '../../../platform/outbound/guarded-connection.ts';
import type { Vault } from '../../../platform/vault/vault.ts';
import { tenantSettings } from '../../settings/domain/tenant-settings.resource.ts';
import { tenant, tenantStream } from '../../tenants/domain/tenant.ts';
import type { AttemptOutcome, Channel, OutboundMessage } from '../channel.ts';
import {
  notificationSettings,
  notificationSettingsStream,
  smtpPasswordLocation,
  type NotificationSettings,
} from '../domain/settings.ts';
import { composeEmail } from './email-message.ts';
import { sendMail, type MailServer, type SmtpLimits } from './smtp-sender.ts';

export interface EmailPorts {
  readonly aggregates: AggregateReader;
  readonly vault: Pick<Vault, 'get'>;
  /** The way out to the mail server that an administrator chose. */
  readonly connect: (choice: DestinationChoice) => GuardedConnect;
  readonly limits?: SmtpLimits;
}

/** One address, as `emailField` allows it: nothing in it can end a command or a header. */
const ADDRESS = /^[^\s<>(),;:\\"[\]\p{Cc}]+@[^\s<>(),;:\\"[\]\p{Cc}@]+$/u;

/** Sends messages over the tenant's mail server. */
export class EmailChannel implements Channel {
  readonly name = 'email';
  readonly #ports: EmailPorts;

  constructor(ports: EmailPorts) {
    this.#ports = ports;
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<AttemptOutcome> {
    const { tenantId, recipient, subject } = message;
    const { aggregates, connect, limits } = this.#ports;
    if (recipient.kind !== 'email') return { kind: 'refused', reason: 'the recipient has no e-mail address' };
    if (!ADDRESS.test(recipient.address)) return { kind: 'refused', reason: 'the e-mail address is not valid' };
    const settings = await aggregates.load(notificationSettings, notificationSettingsStream(tenantId));
    if (subject.kind !== 'test' && !(await this.#isOn(tenantId)))
      return { kind: 'refused', reason: 'e-mail is switched off' };
    const { smtpHost, smtpFrom, smtpAllowPrivateNetwork, smtpCaCertificate } = settings.values;
    if (smtpHost === null || smtpFrom === null) return { kind: 'refused', reason: 'the mail server is not configured' };
    const login = await this.#login(tenantId, settings);
    if (login === 'no password') return { kind: 'refused', reason: 'the password of the mail server is not set' };
    const { externalBaseUrl } = await aggregates.load(tenant, tenantStream(tenantId));
    const mail = composeEmail(message, { from: smtpFrom, to: recipient.address, baseUrl: externalBaseUrl });
    if (!mail) return { kind: 'refused', reason: 'the alert no longer exists' };
    const { smtpPort: port, smtpSecurity: security } = settings.values;
    const server: MailServer = { host: smtpHost, port, security, login, caCertificate: smtpCaCertificate };
    const choice = { allowPrivateNetwork: smtpAllowPrivateNetwork, caCertificate: smtpCaCertificate };
    return sendMail(server, mail, connect(choice), signal, limits);
  }

  async #isOn(tenantId: TenantId): Promise<boolean> {
    const { values } = await this.#ports.aggregates.load(tenantSettings.aggregate, tenantSettings.stream(tenantId));
    return values.alertEmailEnabled;
  }

  async #login(
    tenantId: TenantId,
    { values: { smtpUsername }, smtpPasswordRef }: NotificationSettings,
  ): Promise<MailServer['login'] | 'no password'> {
    if (smtpUsername === null) return null;
    const password =
      smtpPasswordRef === null
        ? undefined
        : await this.#ports.vault.get(tenantId, smtpPasswordLocation, smtpPasswordRef);
    return password === undefined ? 'no password' : { username: smtpUsername, password: password.toString() };
  }
}
