import type { AggregateReader } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { OutboundSettings } from '../../../platform/outbound/destinations.ts';
import type { Vault } from '../../../platform/vault/vault.ts';
import type { DestinationConfig } from '../domain/config.ts';
import type { LogDestination } from '../domain/events.ts';
import { logDestination, logDestinationSecret, logDestinationStream } from '../domain/log-destination.ts';
import { readHidden, wholeConfig } from '../domain/whole-config.ts';
import { lineFormat, syslogFormat } from '../formats/formats.ts';
import type { FormatRecord } from '../formats/log-record.ts';
import { openSink } from '../sinks/open-sink.ts';
import { SinkFailed } from '../sinks/sink.ts';
import type { OpenedDestination } from './page-sender.ts';

/** Opens destinations as they are configured now, with their credentials from the vault. */
export class DestinationSinks {
  readonly #aggregates: AggregateReader;
  readonly #vault: Vault;
  readonly #settings: OutboundSettings;

  constructor(aggregates: AggregateReader, vault: Vault, settings: OutboundSettings) {
    this.#aggregates = aggregates;
    this.#vault = vault;
    this.#settings = settings;
  }

  /** Undefined if there is no such destination. Throws `SinkFailed` if it has no credential and needs one. */
  async open(tenantId: TenantId, destinationId: string, folder?: string): Promise<OpenedDestination | undefined> {
    const stream = logDestinationStream(tenantId, destinationId);
    const { destination: stored } = await this.#aggregates.load(logDestination, stream);
    if (!stored) return undefined;
    const [credential, hidden] = await Promise.all([
      this.#credentialOf(tenantId, stored),
      readHidden(stored, this.#vault, tenantId),
    ]);
    if (stored.addressRef !== null && !hidden) throw new SinkFailed('the address is no longer stored');
    const destination = { ...stored, config: wholeConfig(stored.config, hidden) };
    const sink = openSink(destination, credential, { settings: this.#settings, folder });
    return { sink, types: new Set(destination.eventTypes), format: formatOf(destination) };
  }

  /** A configuration as its administrators entered it, without the credential. Undefined if there is none. */
  async configOf(tenantId: TenantId, destinationId: string): Promise<DestinationConfig | undefined> {
    const stream = logDestinationStream(tenantId, destinationId);
    const { destination } = await this.#aggregates.load(logDestination, stream);
    return destination && wholeConfig(destination.config, await readHidden(destination, this.#vault, tenantId));
  }

  async #credentialOf(
    tenantId: TenantId,
    { destinationId, secretRef }: Pick<LogDestination, 'destinationId' | 'secretRef'>,
  ): Promise<string | null> {
    if (secretRef === null) return null;
    const stored = await this.#vault.get(tenantId, logDestinationSecret(destinationId), secretRef);
    if (!stored) throw new SinkFailed('no credential is stored');
    return stored.toString();
  }
}

const formatOf = ({ config, format }: LogDestination): FormatRecord =>
  config.type === 'syslog' ? syslogFormat(format, config.facility) : lineFormat(format);
