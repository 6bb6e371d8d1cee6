import {
  destinationConnect,
  destinationDatagrams,
  type OutboundSettings,
} from '../../../platform/outbound/destinations.ts';
import { explainedFetch, destinationFailure } from '../../../platform/outbound/explained-fetch.ts';
import { destinationAddress } from '../domain/config.ts';
import type { LogDestination } from '../domain/events.ts';
import { isJsonFormat } from '../formats/formats.ts';
import { ElasticsearchSink } from './elasticsearch-sink.ts';
import { S3Sink } from './s3-sink.ts';
import { SinkFailed, type Sink } from './sink.ts';
import { SplunkSink } from './splunk-sink.ts';
import { SyslogDatagramSink } from './syslog-datagram-sink.ts';
import { SyslogStreamSink } from './syslog-stream-sink.ts';
import { WebhookSink } from './webhook-sink.ts';

export interface SinkOptions {
  readonly settings: OutboundSettings;
  /** Objects of a range of the past are kept apart from those of the live stream. */
  readonly folder?: string | undefined;
}

/** The sink of a destination's type. Opens no connection yet. Throws `SinkFailed` without a needed credential. */
export function openSink(
  destination: LogDestination,
  credential: string | null,
  { settings, folder }: SinkOptions,
): Sink {
  const { config, format } = destination;
  const fetch = () => explainedFetch(settings, destination, { keepsConnections: true });
  const isJson = isJsonFormat(format);
  switch (config.type) {
    case 'syslog': {
      const { address } = destinationAddress(config);
      const explain = (error: unknown) => destinationFailure(error, address, settings, destination);
      if (config.protocol === 'udp')
        return new SyslogDatagramSink(config, { open: destinationDatagrams(settings, destination), explain });
      const connect = destinationConnect(settings, destination);
      const authorities = config.protocol === 'tls' ? destination.caCertificate : undefined;
      return new SyslogStreamSink(config, { connect, explain, ...(authorities === undefined ? {} : { authorities }) });
    }
    case 'webhook':
      return new WebhookSink(config, { token: credential, isJson, fetch: fetch() });
    case 'splunk_hec':
      return new SplunkSink(config, { token: needed(credential), isJson, fetch: fetch() });
    case 'elasticsearch':
      return new ElasticsearchSink(config, { apiKey: credential, isJson, fetch: fetch() });
    case 's3':
      return new S3Sink(config, { secretAccessKey: needed(credential), fetch: fetch(), folder });
  }
}

function needed(credential: string | null): string {
  if (credential === null) throw new SinkFailed('no credential is stored');
  return credential;
}
