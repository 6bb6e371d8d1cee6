import type { DestinationConfig } from '../../src/contexts/log-destinations/domain/config.ts';
import type { LogDestination } from '../../src/contexts/log-destinations/domain/events.ts';
import { openSink } from '../../src/contexts/log-destinations/sinks/open-sink.ts';
import type { Sink } from '../../src/contexts/log-destinations/sinks/sink.ts';
import { NO_PRIVATE_NETWORKS } from '../../src/platform/outbound/private-networks.ts';

/** An enabled destination of audit records, without a secret of its own. */
export const logDestination = (config: DestinationConfig, over: Partial<LogDestination> = {}): LogDestination => ({
  destinationId: 'd',
  slot: 1,
  name: 'x',
  format: 'json',
  isEnabled: true,
  eventTypes: ['audit'],
  config,
  secretRef: null,
  addressRef: null,
  allowPrivateNetwork: false,
  caCertificate: null,
  ...over,
});

interface SinkChoice extends Partial<LogDestination> {
  /** True by default: servers on this machine are reachable. */
  readonly devMode?: boolean;
  readonly credential?: string;
}

export const sinkOf = (
  config: DestinationConfig,
  { devMode = true, credential = 'a-credential', ...over }: SinkChoice = {},
): Sink =>
  openSink(logDestination(config, over), credential, { settings: { devMode, outboundNetworks: NO_PRIVATE_NETWORKS } });

export const syslogConfig = <Protocol extends 'udp' | 'tcp' | 'tls'>(
  port: number,
  protocol: Protocol,
  host = '127.0.0.1',
) => ({ type: 'syslog', host, port, protocol, facility: 'local0' }) as const;

export const webhookConfig = (
  url: string,
  payload: 'ndjson' | 'array' = 'ndjson',
  headers: Readonly<Record<string, string>> = {},
) => ({ type: 'webhook', url, headers, payload }) as const;
