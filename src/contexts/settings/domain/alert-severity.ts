import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import {
  alertTypeSchema,
  defaultSeverities,
  severitySchema,
  type AlertType,
  type Severity,
} from '../../alerts/domain/vocabulary.ts';

/** The severities of a tenant's new alerts; types that were never set have the defaults. */
export const alertSeverityEvents = defineEvents('alertSeverity', {
  AlertSeveritiesSet: {
    version: 1,
    /** `isSilenced`: one of them became less severe. Absent in older events. */
    schema: z.object({
      severities: z.partialRecord(alertTypeSchema, severitySchema),
      isSilenced: z.boolean().optional(),
    }),
    audit: 'alert_severity.set',
  },
});

export interface AlertSeverityState {
  readonly severities: Partial<Record<AlertType, Severity>>;
}

export const alertSeverity = defineAggregate<AlertSeverityState, typeof alertSeverityEvents>(
  alertSeverityEvents,
  { severities: {} },
  (state, { data }) => ({ severities: { ...state.severities, ...data.severities } }),
);

/** Each tenant has one such stream. */
export const alertSeverityStream = (tenantId: TenantId): string => streamName('alertSeverity', tenantId, tenantId);

/** The severity of every alert type, with the tenant's settings applied. */
export const allSeverities = (set: AlertSeverityState['severities']): Readonly<Record<AlertType, Severity>> => ({
  ...defaultSeverities,
  ...set,
});
