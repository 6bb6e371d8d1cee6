import { z } from 'zod';
import { logDestinations, type LogDestinationRow } from '../../projections/log-destinations/log-destinations.ts';
import { destinationSecrets } from '../../src/contexts/log-destinations/domain/config.ts';
import {
  destinationTypes,
  logFormats,
  recordTypes,
  syslogFacilities,
  syslogProtocols,
  webhookPayloads,
} from '../../src/contexts/log-destinations/domain/vocabulary.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import { CONCEALED, namesOnly } from '../../src/platform/kernel/guarded-fields.ts';
import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

const configView = z.union([
  z
    .object({
      host: z.string(),
      port: z.int(),
      protocol: z.enum(syslogProtocols),
      facility: z.enum(syslogFacilities),
    })
    .meta({ title: 'SyslogDestinationConfig' }),
  z
    .object({
      url: z.string(),
      headers: z
        .record(z.string(), z.string())
        .describe(`Names of the headers. Every value is \`${CONCEALED}\`; sent back, it keeps the stored one.`),
      payload: z.enum(webhookPayloads),
      tokenConfigured: z.boolean(),
    })
    .meta({ title: 'WebhookDestinationConfig' }),
  z
    .object({
      url: z.string(),
      index: z.string().nullable(),
      sourceType: z.string(),
      tokenConfigured: z.boolean(),
    })
    .meta({ title: 'SplunkDestinationConfig' }),
  z
    .object({ url: z.string(), index: z.string(), apiKeyConfigured: z.boolean() })
    .meta({ title: 'ElasticsearchDestinationConfig' }),
  z
    .object({
      endpoint: z.string(),
      region: z.string(),
      bucket: z.string(),
      prefix: z.string(),
      accessKeyId: z.string(),
      secretAccessKeyConfigured: z.boolean(),
    })
    .meta({ title: 'S3DestinationConfig' }),
]);

/** What an administrator chose (OP-203, OP-204). How far the destination has come is in no event. */
export const logDestinationSettingsView = z.object({
  id: z.uuid(),
  name: z.string(),
  type: z.enum(destinationTypes),
  format: z.enum(logFormats),
  isEnabled: z.boolean(),
  eventTypes: z.array(z.enum(recordTypes)),
  config: configView,
  allowPrivateNetwork: z.boolean(),
  caCertificate: z.string().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** The latest request to send a range of the past. */
export interface RequestedBackfill {
  readonly id: string;
  readonly from: string;
  readonly to: string | null;
}

export interface LogDestinationSettings {
  readonly shown: z.output<typeof logDestinationSettingsView>;
  readonly backfill: RequestedBackfill | null;
}

function toSettings(row: LogDestinationRow): LogDestinationSettings {
  const { type, ...config } = row.config;
  const secret = destinationSecrets[type];
  const shown = {
    id: row.destination_id,
    name: row.name,
    type,
    format: row.format,
    isEnabled: row.is_enabled,
    eventTypes: [...row.event_types],
    config: {
      ...config,
      ...('headers' in config ? { headers: namesOnly(config.headers) } : {}),
      ...(secret ? { [`${secret.name}Configured`]: row.secret_configured } : {}),
    } as unknown as z.output<typeof configView>,
    allowPrivateNetwork: row.allow_private_network,
    caCertificate: row.ca_certificate,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
  const backfill = row.backfill_id ? { id: row.backfill_id, from: row.backfill_from!, to: row.backfill_to } : null;
  return { shown, backfill };
}

const SELECT = 'select * from log_destinations where tenant_id = $1';

export const getLogDestination: Query<{ destinationId: string }, LogDestinationSettings> = async (
  reads,
  { destinationId },
) => {
  const row = await reads.one<LogDestinationRow>(`${SELECT} and destination_id = $2`, [destinationId]);
  return row ? toSettings(row) : notFound();
};

/** All destinations of a tenant, newest first (OP-002, OP-003). */
export const listLogDestinations: Query<void, readonly LogDestinationSettings[]> = async (reads) => {
  const rows = await reads.rows<LogDestinationRow>(`${SELECT} order by created_at desc, destination_id`);
  return rows.map(toSettings);
};

/** A destination from the events that created it. */
export function viewOfNewLogDestination(
  destinationId: string,
  events: readonly RecordedEvent[],
): LogDestinationSettings | undefined {
  const row = newRow(logDestinations, { destination_id: destinationId }, events);
  return row && toSettings(row);
}
