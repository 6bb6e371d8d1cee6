import { endpoint, endpointStream } from '../../src/contexts/discovery/domain/endpoint.ts';
import type { Classification } from '../../src/contexts/discovery/domain/vocabulary.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface ClassifyEndpoint {
  /** Id of a discovered endpoint; the caller has checked that it exists. */
  readonly endpointId: string;
  readonly domain: string;
  readonly classification: Classification;
  readonly reason: string | null;
}

/** Classifies a discovered host (choice OP-091). The same classification again has no effect. */
export const classifyEndpoint = defineCommand({
  name: 'ClassifyEndpoint',
  aggregate: endpoint,
  stream: ({ endpointId }: ClassifyEndpoint, { tenantId }) => endpointStream(tenantId, endpointId),
  decide(state, { endpointId, domain, classification, reason }) {
    if (state.classification === classification && (reason === null || reason === state.reason)) return accept([]);
    return accept([{ type: 'EndpointClassified', data: { endpointId, domain, classification, reason } }]);
  },
  freshens: ['endpoint_classifications'],
});
