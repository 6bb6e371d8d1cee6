import type { DestinationConfig } from '../../src/contexts/log-destinations/domain/config.ts';
import { logDestinationEvents, type LogDestination } from '../../src/contexts/log-destinations/domain/events.ts';
import type { LogFormat, RecordType } from '../../src/contexts/log-destinations/domain/vocabulary.ts';
import {
  at,
  defineReadModel,
  flag,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  destination_id: id,
  name: text,
  format: text as Column<LogFormat>,
  is_enabled: flag,
  event_types: json<readonly RecordType[]>(),
  config: json<DestinationConfig>(),
  secret_configured: flag,
  allow_private_network: flag,
  ca_certificate: nullable(text),
  /** The revision of the event with this content. The forwarder notices a change by it. */
  content_revision: integer,
  /** The latest request to send a range of the past. */
  backfill_id: nullable(id),
  backfill_from: nullable(timestamp),
  backfill_to: nullable(timestamp),
  backfill_revision: nullable(integer),
  created_at: timestamp,
  updated_at: timestamp,
};
export type LogDestinationRow = Row<{ columns: typeof columns }>;

const described = (data: LogDestination, revision: bigint) => ({
  destination_id: data.destinationId,
  name: data.name,
  format: data.format,
  is_enabled: data.isEnabled,
  event_types: data.eventTypes,
  config: data.config,
  secret_configured: data.secretRef !== null,
  allow_private_network: data.allowPrivateNetwork,
  ca_certificate: data.caCertificate,
  content_revision: Number(revision),
});

const keyOf = ({ destinationId }: { readonly destinationId: string }) => ({ destination_id: destinationId });

/** A tenant's log destinations. Shows whether a credential is set, never its reference. */
export const logDestinations = defineReadModel({
  name: 'log_destinations',
  version: 1,
  lane: 'main',
  columns,
  key: ['destination_id'],
  families: [logDestinationEvents],
  on: {
    LogDestinationCreated: (event) => ({
      key: keyOf(event.data),
      fold: () => ({
        ...described(event.data, event.revision),
        backfill_id: null,
        backfill_from: null,
        backfill_to: null,
        backfill_revision: null,
        created_at: at(event),
        updated_at: at(event),
      }),
    }),
    LogDestinationUpdated: (event) => ({
      key: keyOf(event.data),
      fold: (row) => row && { ...row, ...described(event.data, event.revision), updated_at: at(event) },
    }),
    LogDestinationDeleted: (event) => ({ key: keyOf(event.data), fold: () => undefined }),
    LogBackfillRequested: (event) => ({
      key: keyOf(event.data),
      fold: (row) =>
        row && {
          ...row,
          backfill_id: event.data.backfillId,
          backfill_from: event.data.from,
          backfill_to: event.data.to,
          backfill_revision: Number(event.revision),
        },
    }),
  },
});
