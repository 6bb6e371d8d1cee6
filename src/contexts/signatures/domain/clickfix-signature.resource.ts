import { z } from 'zod';
import { defineCollection } from '../../../platform/resources/collection.ts';
import { severitySchema } from '../../alerts/domain/vocabulary.ts';
import { patternFault } from '../../../platform/patterns/linear-pattern.ts';
import { descriptionField, patternField } from './vocabulary.ts';
import { nameField } from '../../../platform/kernel/name-field.ts';

const MOST = 500;

/** Patterns by which extensions recognise a page that persuades people to paste a command (choice OP-200). */
export const clickfixSignatures = defineCollection({
  noun: 'clickfixSignature',
  list: 'clickfixSignatures',
  area: 'signatures',
  path: '/api/v1/admin/clickfix-signatures',
  parameter: 'signatureID',
  verbs: ['list', 'create', 'update', 'delete'],
  access: { read: 'signatures:read', write: 'signatures:write' },
  table: 'clickfix_signatures',
  version: 1,
  fields: {
    name: nameField(),
    description: descriptionField.default(''),
    pattern: patternField,
    patternType: z.enum(['substring', 'regex']),
    platform: z.enum(['windows', 'macos', 'linux', 'any']).default('any'),
    severity: severitySchema.default('high'),
    action: z.enum(['warn', 'block']).default('warn'),
    isEnabled: z.boolean().default(true),
  },
  rule: {
    reads: ['pattern', 'patternType'],
    broken: ({ pattern, patternType }) => (patternType === 'regex' ? patternFault(pattern) : undefined),
  },
  filters: ['platform', 'severity', 'isEnabled'],
  most: MOST,
  versioned: true,
  toldToExtensions: true,
});
