import { z } from 'zod';
import type { ExtensionConfig } from '../../../../../queries/policies/extension-config.ts';
import { severitySchema } from '../../../../contexts/alerts/domain/vocabulary.ts';
import { browserTypes } from '../../../../contexts/devices/domain/events.ts';
import { ruleSchema } from '../../../../contexts/policies/domain/events.ts';
import { extensionModes } from '../../../../contexts/settings/domain/tenant-settings.resource.ts';
import { patternTypes, signatureTypes } from '../../../../contexts/signatures/domain/vocabulary.ts';

/**
 * What an extension gets. `ExtensionResponses` keeps it as a signed text, so this only describes it; the type holds that
 * both have the same members.
 */
export const policyBundleView: z.ZodType<ExtensionConfig & { readonly credentialSalt: string }> = z
  .object({
    policyVersion: z.string().describe('Another one after each change'),
    extensionMode: z.enum(extensionModes),
    policies: z
      .array(z.object({ id: z.uuid(), name: z.string(), priority: z.int(), rules: z.array(ruleSchema) }))
      .describe('In the order in which they apply'),
    domainScope: z.array(
      z.object({ domain: z.string(), scope: z.enum(['corporate', 'excluded']), includeSubdomains: z.boolean() }),
    ),
    phishingWhitelist: z.array(z.object({ domain: z.string() })),
    signatures: z.array(
      z.object({
        id: z.uuid(),
        version: z.int(),
        name: z.string(),
        type: z.enum(signatureTypes),
        pattern: z.string(),
        patternType: z.enum(patternTypes),
        severity: severitySchema,
      }),
    ),
    clickfixSignatures: z.array(
      z.object({
        id: z.uuid(),
        version: z.int(),
        name: z.string(),
        pattern: z.string(),
        patternType: z.enum(['substring', 'regex']),
        platform: z.enum(['windows', 'macos', 'linux', 'any']),
        severity: severitySchema,
        action: z.enum(['warn', 'block']),
      }),
    ),
    extensionWhitelist: z.array(
      z.object({ extensionId: z.string(), browserType: z.enum(browserTypes).nullable().describe('Null: all') }),
    ),
    canaryCookies: z
      .array(z.object({ id: z.uuid(), name: z.string(), domain: z.string(), path: z.string(), value: z.string() }))
      .describe('Plant them, and report any other use'),
    settings: z.object({
      breachCheckEnabled: z.boolean(),
      policyPollSeconds: z.int(),
      heartbeatSeconds: z.int(),
      screenshotEnabled: z.boolean(),
      learningThreshold: z.int(),
      inventoryIntervalHours: z.int(),
    }),
    credentialSalt: z.string().describe('64 hexadecimal digits: the key of password hashes'),
  })
  .meta({ title: 'PolicyBundle' });
