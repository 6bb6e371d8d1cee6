import { endpointEvents } from '../../src/contexts/discovery/domain/events.ts';
import type { Classification } from '../../src/contexts/discovery/domain/vocabulary.ts';
import {
  at,
  defineReadModel,
  id,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  endpoint_id: id,
  domain: text,
  classification: text as Column<Classification>,
  reason: nullable(text),
  classified_by: nullable(id),
  classified_at: timestamp,
};
export type EndpointClassificationRow = Row<{ columns: typeof columns }>;

/**
 * Classifications by analysts. Kept apart from telemetry, so that analysts see their change at once, however much
 * telemetry arrives.
 */
export const endpointClassifications = defineReadModel({
  name: 'endpoint_classifications',
  version: 1,
  lane: 'main',
  columns,
  key: ['endpoint_id'],
  indexes: [['classification', 'endpoint_id']],
  families: [endpointEvents],
  on: {
    EndpointClassified: (event) => {
      const { endpointId, domain, classification, reason } = event.data;
      const by = { classified_by: event.metadata.actor.id, classified_at: at(event) };
      return {
        key: { endpoint_id: endpointId },
        fold: () => ({ endpoint_id: endpointId, domain, classification, reason, ...by }),
      };
    },
  },
});
