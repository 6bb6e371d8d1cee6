import { z } from 'zod';
import { defineEvents, type EventOf } from '../../kernel/event.ts';
import { uuid } from '../../kernel/ids.ts';
import { moveFields, unknownMove } from './standing.ts';
import { alertTypeSchema, policyActionSchema, severitySchema } from './vocabulary.ts';

const alertId = uuid();
const fingerprint = z.string();
/** Version 2 of the events that move an alert in triage says from where to where. (What is new comes first: V8 makes such an object in a quarter of the time.) */
const upcasters = { 1: (data: object) => ({ was: unknownMove.was, is: unknownMove.is, ...data }) };

/**
 * An alert's stream: why it was raised and every decision about it since. `fingerprint` names what repeats: the same type,
 * user and domain.
 */
export const alertEvents = defineEvents('alert', {
  AlertRaised: {
    version: 2,
    schema: z.object({
      alertId,
      alertType: alertTypeSchema,
      severity: severitySchema,
      title: z.string(),
      description: z.string(),
      fingerprint,
      userId: uuid().nullable(),
      deviceId: uuid().nullable(),
      domain: z.string().nullable(),
      url: z.string().nullable(),
      /** The observation that raised it. */
      cause: uuid(),
      metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())])),
      /** Null before version 2. */
      raisedAt: z.iso.datetime().nullable(),
    }),
    upcasters: { 1: (data: object) => ({ raisedAt: null, ...data }) },
    personal: { subject: 'userId', fields: ['url'] },
    audit: 'alert.raised',
  },
  /** Seen again, `occurrences` times in one report: `cause` is the report, `occurredAt` the latest of them. */
  AlertRepeated: {
    version: 1,
    schema: z.object({ alertId, cause: uuid(), occurrences: z.int().min(1), occurredAt: z.iso.datetime() }),
    audit: 'alert.repeated',
  },
  AlertAcknowledged: { version: 2, schema: z.object({ alertId, notes: z.string().nullable(), ...moveFields }), upcasters, audit: 'alert.acknowledged' },
  AlertResolved: {
    version: 2,
    schema: z.object({ alertId, status: z.enum(['resolved', 'false_positive']), resolution: z.string().nullable(), fingerprint, ...moveFields }),
    upcasters,
    audit: 'alert.resolved',
  },
  AlertReopened: { version: 2, schema: z.object({ alertId, notes: z.string().nullable(), fingerprint, ...moveFields }), upcasters, audit: 'alert.reopened' },
  AlertAssigned: { version: 1, schema: z.object({ alertId, assigneeId: uuid().nullable() }), audit: 'alert.assigned' },
  AlertClaimed: { version: 1, schema: z.object({ alertId, assigneeId: uuid() }), audit: 'alert.claimed' },
  AlertSeverityChanged: {
    version: 2,
    schema: z.object({ alertId, severity: severitySchema, reason: z.string().nullable(), ...moveFields }),
    upcasters,
    audit: 'alert.severity_changed',
  },
  AlertPolicyActionRecorded: {
    version: 1,
    schema: z.object({ alertId, action: policyActionSchema, policyId: uuid().nullable(), policyName: z.string().nullable() }),
    audit: 'alert.policy_action_recorded',
  },
  /** The portal's receipt. */
  AlertForwarded: {
    version: 2,
    schema: z.object({ alertId, portalAlertId: z.string(), deliveryId: uuid().nullable() }),
    upcasters: { 1: (data: object) => ({ deliveryId: null, ...data }) },
    audit: 'alert.forwarded',
  },
});
export type AlertEvent = EventOf<typeof alertEvents>;
