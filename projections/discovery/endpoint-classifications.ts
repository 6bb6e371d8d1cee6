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

/** What analysts said about hosts. Apart from what browsers report, so that whoever says it sees it at once, however much is reported. */
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
