import { z } from 'zod';
import { uuid } from '../../../platform/kernel/ids.ts';
import { defineCollection } from '../../../platform/resources/collection.ts';
import { generated } from '../../../platform/resources/fields.ts';
import { severitySchema } from '../../alerts/domain/vocabulary.ts';
import { readPattern } from './signature-pattern.ts';
import { descriptionField, patternField, patternTypes, signatureTypes } from './vocabulary.ts';
import { nameField } from '../../../platform/kernel/name-field.ts';

/** Every extension of a tenant downloads all signatures: a higher limit would make that response too large. */
export const MAX_SIGNATURES = 2_000;

/**
 * Patterns by which extensions recognise a phishing page, from an administrator or an uploaded pack (choice OP-198).
 */
export const signatures = defineCollection({
  noun: 'signature',
  list: 'signatures',
  area: 'signatures',
  path: '/api/v1/admin/signatures',
  parameter: 'signatureID',
  verbs: ['list', 'create', 'update', 'delete'],
  access: { read: 'signatures:read', write: 'signatures:write' },
  table: 'signatures',
  version: 1,
  fields: {
    name: nameField(),
    description: descriptionField.default(''),
    type: z.enum(signatureTypes),
    pattern: patternField,
    patternType: z.enum(patternTypes),
    severity: severitySchema.default('medium'),
    isEnabled: z.boolean().default(true),
    source: generated(z.enum(['manual', 'pack']), () => 'manual' as const),
    packId: generated(uuid().nullable(), () => null),
  },
  settled: (values) => ({ ...values, ...('pattern' in readPattern(values) ? readPattern(values) : {}) }),
  rule: {
    reads: ['pattern', 'patternType', 'type'],
    broken: (values) => {
      const read = readPattern(values);
      return 'fault' in read ? read.fault : undefined;
    },
  },
  filters: ['type', 'severity', 'isEnabled', 'source'],
  most: MAX_SIGNATURES,
  versioned: true,
  toldToExtensions: true,
});
