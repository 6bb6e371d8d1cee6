import { z } from 'zod';
import { defineCollection } from '../../../platform/resources/collection.ts';
import { browserTypes } from '../../devices/domain/events.ts';
import { nameField } from '../../../platform/kernel/name-field.ts';

const NO_CONTROLS = /^\P{Cc}*$/u;
const line = (characters: number) =>
  z.string().trim().max(characters).regex(NO_CONTROLS, 'must not hold control characters');

/**
 * Entries are compared as they are. A pattern would allow nothing here, whatever its author or a browser makes of it, and
 * no store gives such an identifier.
 */
export const allowedExtension = line(128)
  .min(1)
  .regex(/^[^*?]*$/, 'must be the identifier of one extension, without * and ?');

/**
 * A browser extension that may be installed, in one browser family or (null) in all (choice OP-195). Sent to extensions
 * with their policies. The identifier is that of the extension store. It has the same length limit as in telemetry, so
 * that every reported extension can be allowed.
 */
export const extensionWhitelist = defineCollection({
  noun: 'extensionWhitelistEntry',
  list: 'entries',
  area: 'extension-monitoring',
  path: '/api/v1/admin/extension-monitoring/whitelist',
  parameter: 'entryID',
  verbs: ['list', 'create', 'read', 'update', 'delete'],
  access: { read: 'extension-monitoring:read', write: 'extension-monitoring:whitelist' },
  table: 'extension_whitelist_entries',
  version: 1,
  fields: {
    extensionId: allowedExtension,
    name: nameField({ min: 0 }).default(''),
    publisher: line(200).nullable().default(null),
    browserType: z.enum(browserTypes).nullable().default(null),
    reason: z.string().max(2_000).default(''),
  },
  unique: [['extensionId', 'browserType']],
  showsCreator: true,
  toldToExtensions: true,
});
