import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { triageMoveFields, unknownTriageMove } from './triage-state.ts';
import { alertTypeSchema, policyActionSchema, severitySchema } from './vocabulary.ts';

const alertId = uuid();
const fingerprint = z.string();
/**
 * Version 2 of the triage events adds the previous and the new triage state. (New keys come first: V8 creates such an
 * object in a quarter of the time.)
 */
/**
 * Version 3 adds the employee, so that text about the person is sealed under their key. Before, it was in clear text.
 */
const upcasters = {
  1: (data: object) => ({ was: unknownTriageMove.was, is: unknownTriageMove.is, ...data }),
  2: (data: object) => ({ userId: null, ...data }),
};
const userId = uuid().nullable();
const sealedFor = (...fields: readonly string[]) => ({ subject: 'userId', fields });

/**
 * An alert's stream: why it was raised, and every decision about it since. `fingerprint` identifies repetitions: the
 * same type, user and domain.
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
    personal: sealedFor('title', 'description', 'fingerprint', 'domain', 'url', 'metadata'),
    audit: 'alert.raised',
  },
  /**
   * Seen again `occurrences` times in one report. `cause` is the report; `occurredAt` is the time of the latest
   * occurrence.
   */
  AlertRepeated: {
    version: 1,
    schema: z.object({ alertId, cause: uuid(), occurrences: z.int().min(1), occurredAt: z.iso.datetime() }),
    audit: 'alert.repeated',
  },
  AlertAcknowledged: {
    version: 3,
    schema: z.object({ alertId, userId, notes: z.string().nullable(), ...triageMoveFields }),
    upcasters,
    personal: sealedFor('notes'),
    audit: 'alert.acknowledged',
  },
  AlertResolved: {
    version: 3,
    schema: z.object({
      alertId,
      userId,
      status: z.enum(['resolved', 'false_positive']),
      resolution: z.string().nullable(),
      fingerprint,
      ...triageMoveFields,
    }),
    upcasters,
    personal: sealedFor('resolution', 'fingerprint'),
    audit: 'alert.resolved',
  },
  AlertReopened: {
    version: 3,
    schema: z.object({ alertId, userId, notes: z.string().nullable(), fingerprint, ...triageMoveFields }),
    upcasters,
    personal: sealedFor('notes', 'fingerprint'),
    audit: 'alert.reopened',
  },
  AlertAssigned: { version: 1, schema: z.object({ alertId, assigneeId: uuid().nullable() }), audit: 'alert.assigned' },
  AlertClaimed: { version: 1, schema: z.object({ alertId, assigneeId: uuid() }), audit: 'alert.claimed' },
  AlertSeverityChanged: {
    version: 3,
    schema: z.object({ alertId, userId, severity: severitySchema, reason: z.string().nullable(), ...triageMoveFields }),
    upcasters,
    personal: sealedFor('reason'),
    audit: 'alert.severity_changed',
  },
  AlertPolicyActionRecorded: {
    version: 1,
    schema: z.object({
      alertId,
      action: policyActionSchema,
      policyId: uuid().nullable(),
      policyName: z.string().nullable(),
    }),
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
