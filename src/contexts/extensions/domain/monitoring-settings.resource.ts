import { z } from 'zod';
import { defineSingleton } from '../../../platform/resources/singleton.ts';
import { defaultSeverities, severities, severitySchema, type Severity } from '../../alerts/domain/vocabulary.ts';

/**
 * How closely a tenant monitors browser extensions (choice OP-194). `enabled` concerns alerts: the inventory is kept in
 * any case. Alerts about unlisted extensions are off by default, because without a whitelist every extension is
 * unlisted. `alertSeverity` applies to both kinds of alert; null means the severity table (OP-087).
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
    /** How often a browser sends its complete inventory. Sent to extensions with their configuration. */
    inventoryIntervalHours: z.int().min(1).max(168).default(24),
  },
  showsEditor: true,
  toldToExtensions: true,
  watch: {
    silencedWhere: 'alerts about extensions are switched off or get a lower severity',
    title: 'Alerts about browser extensions were switched off or made less severe',
    silences: (before, after) =>
      before.enabled &&
      (!after?.enabled ||
        (before.alertOnUnwhitelisted && !after.alertOnUnwhitelisted) ||
        (before.alertOnPermissionChange && !after.alertOnPermissionChange) ||
        severities.indexOf(severityOf(after)) > severities.indexOf(severityOf(before))),
  },
});

/** Null stands for the severity table, whose default is the same for both kinds of alert. */
const severityOf = ({ alertSeverity }: { readonly alertSeverity: Severity | null }): Severity =>
  alertSeverity ?? defaultSeverities.unwhitelisted_extension;
