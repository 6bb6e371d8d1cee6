import { z } from 'zod';
import { defineCollection } from '../../../platform/resources/collection.ts';
import { hostField } from '../../../platform/web-addresses/host-field.ts';

/** Which domains the tenant calls its own, and which its extensions leave alone (choice OP-114). */
export const scopedDomains = defineCollection({
  noun: 'scopedDomain',
  list: 'domains',
  area: 'policies',
  path: '/api/v1/admin/domain-scope',
  parameter: 'domainID',
  verbs: ['list', 'create', 'delete'],
  access: { read: 'policies:read', write: 'policies:write' },
  table: 'scoped_domains',
  version: 1,
  fields: {
    domain: hostField(),
    scope: z.enum(['corporate', 'excluded']).default('corporate'),
    includeSubdomains: z.boolean().default(true),
  },
  unique: [['domain']],
  showsCreator: true,
  toldToExtensions: true,
});
