import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import type { TenantId } from '../../kernel/ids.ts';
import { policyEvents, type Rule } from './events.ts';

export interface PolicyState {
  readonly exists: boolean;
  readonly name: string;
  readonly description: string;
  readonly priority: number;
  readonly isEnabled: boolean;
  readonly rules: readonly Rule[];
  readonly groupIds: readonly string[];
}

const initial: PolicyState = { exists: false, name: '', description: '', priority: 100, isEnabled: true, rules: [], groupIds: [] };

export const policy = defineAggregate<PolicyState, typeof policyEvents>(policyEvents, initial, (state, event) => {
  switch (event.type) {
    case 'PolicyCreated':
    case 'PolicyUpdated':
      return { ...event.data, exists: true };
    case 'PolicyDeleted':
      return { ...state, exists: false };
  }
});

export const policyStream = (tenantId: TenantId, policyId: string): string => streamName('policy', tenantId, policyId);
