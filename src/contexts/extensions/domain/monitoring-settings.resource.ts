import { z } from 'zod';
import { defineSingleton } from '../../../platform/resources/singleton.ts';
import { severitySchema } from '../../alerts/domain/vocabulary.ts';

/**
 * How closely a tenant watches the extensions of its browsers (choice OP-194). `enabled` is about alerts: the inventory is
 * kept either way. Unlisted extensions raise no alert until somebody asks for it, since before there is a whitelist every
 * extension is unlisted. `alertSeverity` is the severity of both kinds of alert; null leaves it to the severity table (OP-087).
 */
export const extensionMonitoringSettings = defineSingleton({
  noun: 'extensionMonitoringSettings',
  area: 'extension-monitoring',
  path: '/api/v1/admin/extension-monitoring/settings',
  access: { read: 'extension-monitoring:read', write: 'extension-monitoring:write' },
  table: 'extension_monitoring_settings',
  version: 1,
  fields: {
    enabled: z.boolean().default(true),
    alertOnUnwhitelisted: z.boolean().default(false),
    alertOnPermissionChange: z.boolean().default(true),
    alertSeverity: severitySchema.nullable().default(null),
    /** How often a browser sends its whole inventory: extensions are told of it. */
    inventoryIntervalHours: z.int().min(1).max(168).default(24),
  },
  showsEditor: true,
  toldToExtensions: true,
});
