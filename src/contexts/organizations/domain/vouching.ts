import { defineAggregate } from '../../../platform/kernel/aggregate.ts';
import { issuerTerms, vouchingAfterChange, type Vouchings } from '../../sso/domain/vouching.ts';
import { organizationEvents } from './events.ts';

/** For an organization: folded from its own stream, which contains its configurations. */
export const orgVouchings = defineAggregate<Vouchings, typeof organizationEvents>(
  organizationEvents,
  new Map(),
  (state, event) => {
    switch (event.type) {
      case 'OrgSsoConfigCreated':
      case 'OrgSsoConfigUpdated': {
        const { configId, isEnabled, issuerUrl: provider } = event.data;
        const terms = issuerTerms(event.data);
        return new Map(state).set(configId, vouchingAfterChange(state.get(configId), { isEnabled, provider, terms }));
      }
      case 'OrgSsoConfigDeleted': {
        const vouchings = new Map(state);
        vouchings.delete(event.data.configId);
        return vouchings;
      }
      default:
        return state;
    }
  },
);
