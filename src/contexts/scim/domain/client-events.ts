import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

export const scimScopes = ['scim:read', 'scim:write'] as const;
export type ScimScope = (typeof scimScopes)[number];

/** Whose bugs are forgiven. `generic` forgives, too; the others also accept what one product alone sends. */
export const scimProfiles = ['okta', 'entra', 'generic'] as const;
export type ScimProfile = (typeof scimProfiles)[number];

export const aboutScimClient = { resource: 'scim_client', id: 'clientId' } as const;
const about = aboutScimClient;
const clientId = uuid();
const secret = {
  secretId: uuid(),
  /** SHA-256, lower-case hex. The secret itself is shown once and stored nowhere. */
  secretDigest: z.string(),
  issuedAt: z.iso.datetime(),
  /** Null: valid until it is removed. */
  expiresAt: z.iso.datetime().nullable(),
};

/** The identity providers of a tenant that provision people: one stream a tenant. */
export const scimClientEvents = defineEvents('scimClients', {
  ScimClientCreated: {
    version: 1,
    schema: z.object({
      clientId,
      name: z.string(),
      scopes: z.array(z.enum(scimScopes)),
      profile: z.enum(scimProfiles),
      ...secret,
    }),
    audit: 'scim_client.created',
    about,
  },
  ScimClientSecretIssued: {
    version: 1,
    schema: z.object({ clientId, ...secret }),
    audit: 'scim_client.secret_issued',
    about,
  },
  ScimClientSecretRemoved: {
    version: 1,
    schema: z.object({ clientId, secretId: uuid() }),
    audit: 'scim_client.secret_removed',
    about,
  },
  /** The changed fields only. `isWidened`: the client has a scope that it did not have. */
  ScimClientChanged: {
    version: 1,
    schema: z.object({
      clientId,
      name: z.string().optional(),
      scopes: z.array(z.enum(scimScopes)).optional(),
      profile: z.enum(scimProfiles).optional(),
      isWidened: z.boolean(),
    }),
    audit: 'scim_client.changed',
    about,
  },
  ScimClientDeleted: { version: 1, schema: z.object({ clientId }), audit: 'scim_client.deleted', about },
});
export type ScimClientEvent = EventOf<typeof scimClientEvents>;
