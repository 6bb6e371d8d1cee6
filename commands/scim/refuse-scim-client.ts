import {
  REFUSAL_PERIOD_MS,
  REFUSALS_TAIL,
  scimRefusalHistory,
  scimRefusalsStream,
  type ScimRefusal,
} from '../../src/contexts/scim/domain/refusals.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface RefuseScimClient {
  readonly clientId: string;
  readonly reason: ScimRefusal;
  readonly secretId: string | null;
}

/**
 * For the audit log: the secret of a client was refused. Once an hour for each reason, whatever happens in between:
 * otherwise a caller who knows the client could write an entry after each success of the provider (0163).
 */
export const refuseScimClient = defineCommand({
  name: 'RefuseScimClient',
  aggregate: scimRefusalHistory,
  tail: REFUSALS_TAIL,
  stream: ({ clientId }: RefuseScimClient, { tenantId }) => scimRefusalsStream(tenantId, clientId),
  decide(lastOf, { clientId, reason, secretId }, { now }) {
    const silentUntil = (lastOf[reason] ?? Number.NEGATIVE_INFINITY) + REFUSAL_PERIOD_MS;
    if (now < silentUntil) return acceptWith({ silentUntil }, []);
    return acceptWith({ silentUntil: now + REFUSAL_PERIOD_MS }, [
      { type: 'ScimClientRefused', data: { clientId, reason, secretId, at: new Date(now).toISOString() } },
    ]);
  },
});
