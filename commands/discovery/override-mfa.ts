import { authEndpoint, authEndpointStream } from '../../src/contexts/discovery/domain/endpoint.ts';
import type { MfaOverride } from '../../src/contexts/discovery/domain/vocabulary.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface OverrideMfa {
  /** Id of a discovered authentication endpoint; the caller has checked that it exists. */
  readonly authEndpointId: string;
  readonly domain: string;
  readonly mfaOverride: MfaOverride | null;
}

/** Overrides whether a host asks for a second factor, whatever browsers saw (choice OP-093). */
export const overrideMfa = defineCommand({
  name: 'OverrideMfa',
  aggregate: authEndpoint,
  stream: ({ authEndpointId }: OverrideMfa, { tenantId }) => authEndpointStream(tenantId, authEndpointId),
  decide(state, { authEndpointId, domain, mfaOverride }) {
    if (state.mfaOverride === mfaOverride) return accept([]);
    return accept([{ type: 'AuthEndpointMfaOverridden', data: { authEndpointId, domain, mfaOverride } }]);
  },
  freshens: ['mfa_overrides'],
});
