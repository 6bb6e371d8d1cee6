import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { authEndpointEvents, endpointEvents } from './events.ts';
import type { Classification, MfaOverride } from './vocabulary.ts';

export interface EndpointState {
  readonly classification: Classification;
  readonly reason: string | null;
}

export const endpoint = defineAggregate<EndpointState, typeof endpointEvents>(
  endpointEvents,
  { classification: 'unknown', reason: null },
  (_state, { data: { classification, reason } }) => ({ classification, reason }),
);
export const endpointStream = (tenantId: TenantId, endpointId: string): string =>
  streamName('endpoint', tenantId, endpointId);

export interface AuthEndpointState {
  readonly mfaOverride: MfaOverride | null;
}

export const authEndpoint = defineAggregate<AuthEndpointState, typeof authEndpointEvents>(
  authEndpointEvents,
  { mfaOverride: null },
  (_state, { data: { mfaOverride } }) => ({ mfaOverride }),
);
export const authEndpointStream = (tenantId: TenantId, authEndpointId: string): string =>
  streamName('authEndpoint', tenantId, authEndpointId);
