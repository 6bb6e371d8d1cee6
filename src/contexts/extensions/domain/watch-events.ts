import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { browserTypes } from '../../devices/domain/events.ts';
import { severitySchema } from '../../alerts/domain/vocabulary.ts';
import { riskLevels } from './permission-risk.ts';

const found = z.object({
  extensionId: z.string(),
  name: z.string(),
  version: z.string().nullable(),
  publisher: z.string().nullable(),
  riskLevel: z.enum(riskLevels).nullable(),
  /** The observation that reported it; `occurredAt` is the device's time. */
  observationId: uuid(),
  occurredAt: z.iso.datetime(),
});
export type FoundExtension = z.output<typeof found>;

/**
 * The basis of the judgement: the batch, the tenant's extension settings at that time, and the configured severity
 * (null: the severity table's).
 */
const judged = {
  deviceId: uuid(),
  userId: uuid(),
  browserType: z.enum(browserTypes).nullable(),
  batchId: uuid(),
  severity: severitySchema.nullable(),
  extensionMode: z.string().nullable(),
  policyVersion: z.string().nullable(),
};
const about = { resource: 'device', id: 'deviceId' } as const;

/** One stream per device: which of its extensions caused an alert, under the settings of that time. */
export const extensionWatchEvents = defineEvents('extensionWatch', {
  /** Extensions that are on no whitelist appeared in the browser. */
  UnwhitelistedExtensionsFound: {
    version: 1,
    schema: z.object({ ...judged, extensions: z.array(found) }),
    personal: {
      subject: 'userId',
      fields: ['extensions[].extensionId', 'extensions[].name', 'extensions[].publisher'],
    },
    about,
    audit: 'unwhitelisted_extensions.found',
  },
  /** They were removed or are allowed now. If they appear again, they are reported again. */
  UnwhitelistedExtensionsCleared: {
    version: 1,
    schema: z.object({ deviceId: uuid(), extensionIds: z.array(z.string()) }),
    about,
    audit: 'unwhitelisted_extensions.cleared',
  },
  ExtensionPermissionsChanged: {
    version: 1,
    schema: z.object({ ...judged, change: found.extend({ permissions: z.array(z.string()) }) }),
    personal: { subject: 'userId', fields: ['change'] },
    about,
    audit: 'extension_permissions.changed',
  },
});
export type ExtensionWatchEvent = EventOf<typeof extensionWatchEvents>;
