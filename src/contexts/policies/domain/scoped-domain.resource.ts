import { z } from 'zod';
import { defineCollection } from '../../../platform/resources/collection.ts';
import { hostField } from '../../../platform/web-addresses/host-field.ts';

/** Domains that the tenant declares its own, or that its extensions ignore (choice OP-114). */
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
