import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';
import { aboutScimClient } from './client-events.ts';

/** Why the secret of a client was refused (OP-599). */
export const scimRefusals = ['wrong_secret', 'expired_secret', 'removed_secret'] as const;
export type ScimRefusal = (typeof scimRefusals)[number];

/** For as long after a refusal, others of the client for the same reason are not recorded. */
export const REFUSAL_PERIOD_MS = 60 * 60_000;

/**
 * Refusals of one client, in a stream of its own: requests of unknown callers must not lengthen the stream of the clients,
 * which every request of SCIM is checked against. Nothing of the presented secret is stored.
 */
export const scimRefusalEvents = defineEvents('scimRefusals', {
  ScimClientRefused: {
    version: 1,
    schema: z.object({
      clientId: uuid(),
      reason: z.enum(scimRefusals),
      /** The secret that has expired or was removed. */
      secretId: uuid().nullable(),
      at: z.iso.datetime(),
    }),
    audit: 'scim_client.refused',
    about: aboutScimClient,
  },
});

/** When a refusal for each reason was last recorded, in epoch milliseconds. */
export type ScimRefusalsState = Readonly<Partial<Record<ScimRefusal, number>>>;

export const scimRefusalHistory = defineAggregate<ScimRefusalsState, typeof scimRefusalEvents>(
  scimRefusalEvents,
  {},
  (state, { data: { reason, at } }) => ({ ...state, [reason]: Date.parse(at) }),
);

/** Contains every refusal within the period: there is at most one for each reason. Clocks of processes differ a little. */
export const REFUSALS_TAIL = 2 * scimRefusals.length;

export const scimRefusalsStream = (tenantId: TenantId, clientId: string): string =>
  streamName('scimRefusals', tenantId, clientId);
