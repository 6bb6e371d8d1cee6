import { z } from 'zod';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { classifications, mfaOverrideValues } from './vocabulary.ts';

/** Decisions of administrators about a discovered host. The discovery itself is counted from telemetry. */
export const endpointEvents = defineEvents('endpoint', {
  EndpointClassified: {
    version: 1,
    schema: z.object({
      endpointId: uuid(),
      domain: z.string(),
      classification: z.enum(classifications),
      reason: z.string().nullable(),
    }),
    audit: 'endpoint.classified',
  },
});

export const authEndpointEvents = defineEvents('authEndpoint', {
  AuthEndpointMfaOverridden: {
    version: 1,
    schema: z.object({ authEndpointId: uuid(), domain: z.string(), mfaOverride: z.enum(mfaOverrideValues).nullable() }),
    audit: 'auth_endpoint.mfa_overridden',
  },
});
