import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { policyEvents, type Rule } from './events.ts';

export interface PolicyState {
  readonly exists: boolean;
  readonly name: string;
  readonly description: string;
  readonly priority: number;
  readonly isEnabled: boolean;
  readonly rules: Rule[];
  readonly groupIds: string[];
}

const initial: PolicyState = {
  exists: false,
  name: '',
  description: '',
  priority: 100,
  isEnabled: true,
  rules: [],
  groupIds: [],
};

export const policy = defineAggregate<PolicyState, typeof policyEvents>(policyEvents, initial, (state, event) => {
  switch (event.type) {
    case 'PolicyCreated':
    case 'PolicyUpdated': {
      const { policyId: _, ...content } = event.data;
      return { ...content, exists: true };
    }
    case 'PolicyDeleted':
      return { ...state, exists: false };
  }
});

export const policyStream = (tenantId: TenantId, policyId: string): string => streamName('policy', tenantId, policyId);

/** The policy's content, as its events carry it. */
export const policyContentOf = ({
  name,
  description,
  priority,
  isEnabled,
  rules,
  groupIds,
}: PolicyState): Omit<PolicyState, 'exists'> => ({
  name,
  description,
  priority,
  isEnabled,
  rules,
  groupIds,
});

/** Names are compared case-insensitively (choice OP-112). */
export const policyNameClaim = (name: string): Claim => ({
  kind: 'policy-name',
  value: name.normalize('NFC').toLowerCase(),
  fields: ['name'],
});
