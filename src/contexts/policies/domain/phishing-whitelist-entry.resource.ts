import { z } from 'zod';
import { defineCollection } from '../../../platform/resources/collection.ts';
import { hostField } from '../../../platform/web-addresses/host-field.ts';

/** A domain that raises no phishing signal, and the admin's reason (choice OP-115). */
export const phishingWhitelist = defineCollection({
  noun: 'phishingWhitelistEntry',
  list: 'entries',
  area: 'policies',
  path: '/api/v1/admin/phishing-whitelist',
  parameter: 'entryID',
  verbs: ['list', 'create', 'delete'],
  access: { read: 'policies:read', write: 'policies:write' },
  table: 'phishing_whitelist_entries',
  version: 1,
  fields: { domain: hostField(), reason: z.string().max(2_000).default('') },
  unique: [['domain']],
  showsCreator: true,
  toldToExtensions: true,
});
