import { z } from 'zod';
import { defineAggregate } from '../../kernel/aggregate.ts';
import { defineEvents } from '../../kernel/event.ts';
import { alertTypeSchema, severitySchema, type AlertType, type Severity } from '../alerts/vocabulary.ts';

/** Which severity a tenant's new alerts get; types that were never set have the defaults. */
export const alertSeverityEvents = defineEvents('alertSeverity', {
  AlertSeveritiesSet: {
    version: 1,
    schema: z.object({ severities: z.partialRecord(alertTypeSchema, severitySchema) }),
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
