import { z } from 'zod';
import { timeZoneField } from '../../../platform/time-zones/time-zone-field.ts';
import { defineSingleton } from '../../../platform/resources/singleton.ts';

export const extensionModes = ['learning', 'warn', 'block'] as const;
export type ExtensionMode = (typeof extensionModes)[number];

const seconds = z.int().min(30).max(86_400);

/**
 * Settings of the whole tenant (interface, "Tenant settings"; choices OP-118 … OP-120). The extension mode has its own
 * event: auditors ask who lowered the protection of all browsers, and when.
 */
export const tenantSettings = defineSingleton({
  noun: 'tenantSettings',
  area: 'settings',
  path: '/api/v1/admin/settings',
  access: { read: 'settings:read', write: 'settings:write' },
  table: 'tenant_settings',
  version: 1,
  fields: {
    extensionMode: z.enum(extensionModes).default('learning'),
    learningThreshold: z.int().min(1).max(1_000).default(5),
    breachCheckEnabled: z.boolean().default(true),
    alertEmailEnabled: z.boolean().default(true),
    timezone: timeZoneField.default('UTC'),
    staleDeviceDays: z.int().min(1).max(365).default(7),
    policyPollSeconds: seconds.default(300),
    heartbeatSeconds: seconds.default(300),
    screenshotEnabled: z.boolean().default(true),
  },
  apart: { ExtensionModeChanged: { fields: ['extensionMode'], audit: 'extension_mode.changed' } },
  showsEditor: true,
  toldToExtensions: true,
  watch: {
    silencedWhere: '`alertEmailEnabled` or `breachCheckEnabled` is switched off, or `staleDeviceDays` rises',
    title:
      'E-mail about alerts or the check for breached passwords was switched off, or silent browsers stay unnoticed longer',
    silences: (before, after) =>
      (before.alertEmailEnabled && !after?.alertEmailEnabled) ||
      (before.breachCheckEnabled && !after?.breachCheckEnabled) ||
      before.staleDeviceDays < (after?.staleDeviceDays ?? Infinity),
  },
});
