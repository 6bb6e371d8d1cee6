import { authEndpointEvents } from '../../src/contexts/discovery/domain/events.ts';
import type { MfaOverride } from '../../src/contexts/discovery/domain/vocabulary.ts';
import { defineReadModel, id, text, type Column, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { auth_endpoint_id: id, domain: text, mfa_override: text as Column<MfaOverride> };
export type MfaOverrideRow = Row<{ columns: typeof columns }>;

/** Hosts whose detected second factor an analyst has overridden. */
export const mfaOverrides = defineReadModel({
  name: 'mfa_overrides',
  version: 1,
  lane: 'main',
  columns,
  key: ['auth_endpoint_id'],
  families: [authEndpointEvents],
  on: {
    AuthEndpointMfaOverridden: ({ data: { authEndpointId, domain, mfaOverride } }) => ({
      key: { auth_endpoint_id: authEndpointId },
      fold: () =>
        mfaOverride === null ? undefined : { auth_endpoint_id: authEndpointId, domain, mfa_override: mfaOverride },
    }),
  },
});
