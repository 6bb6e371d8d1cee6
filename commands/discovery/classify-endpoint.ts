import { endpoint, endpointStream } from '../../src/contexts/discovery/domain/endpoint.ts';
import type { Classification } from '../../src/contexts/discovery/domain/vocabulary.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface ClassifyEndpoint {
  /** Of an endpoint that was discovered: the caller has looked. */
  readonly endpointId: string;
  readonly domain: string;
  readonly classification: Classification;
  readonly reason: string | null;
}

/** Says what a discovered host is to the tenant (choice OP-091); the same again changes nothing. */
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
