import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { credentialReuseEvents } from './events.ts';

export interface CredentialReuseState {
  /** Sites on which this password is known to be reused. */
  readonly domains: readonly string[];
}

export const credentialReuse = defineAggregate<CredentialReuseState, typeof credentialReuseEvents>(
  credentialReuseEvents,
  { domains: [] },
  // After an erasure, `domains` is a placeholder text.
  (_state, { data }) => ({ domains: Array.isArray(data.domains) ? data.domains : [] }),
);

export const credentialReuseStream = (tenantId: TenantId, reuse: string): string =>
  streamName('credentialReuse', tenantId, reuse);
