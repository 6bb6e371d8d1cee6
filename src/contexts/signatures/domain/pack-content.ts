import { z } from 'zod';
import { severitySchema } from '../../alerts/domain/vocabulary.ts';
import { readPattern } from './signature-pattern.ts';
import { MAX_SIGNATURES } from './signature.resource.ts';
import { descriptionField, patternField, patternTypes, signatureTypes } from './vocabulary.ts';
import { nameField } from '../../../platform/kernel/name-field.ts';

export const packedSignature = z
  .object({
    name: nameField(),
    description: descriptionField.default(''),
    type: z.enum(signatureTypes),
    pattern: patternField,
    patternType: z.enum(patternTypes),
    severity: severitySchema.default('medium'),
  })
  .transform((signature, context) => {
    const read = readPattern(signature);
    if ('pattern' in read) return { ...signature, ...read };
    context.addIssue({ code: 'custom', path: ['pattern'], message: read.fault });
    return z.NEVER;
  });
export type PackedSignature = z.output<typeof packedSignature>;

/**
 * The content of an uploaded pack (choice OP-199). Signatures are parsed one by one, because each may take a while. One
 * invalid signature refuses the whole pack: a partial pack would give false confidence.
 */
export const packContent = z.object({
  name: nameField(),
  version: z
    .string()
    .trim()
    .min(1)
    .max(50)
    .regex(/^[\w.+-]+$/, 'must be letters, digits, dots, plus, minus and underscores'),
  signatures: z.array(z.unknown()).min(1).max(MAX_SIGNATURES),
});

/** Names are compared case-insensitively. */
export const foldedName = (name: string): string => name.normalize('NFC').toLowerCase();
