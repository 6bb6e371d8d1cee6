import { z } from 'zod';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

export const verificationMethods = ['daily_code', 'otp'] as const;
export type VerificationMethod = (typeof verificationMethods)[number];

const userId = uuid();
const about = { resource: 'employee', id: 'userId' } as const;
const tried = { verificationId: uuid(), userId, method: z.enum(verificationMethods), at: z.iso.datetime() };

/** Attempts to verify one employee. No event contains a code; of a one-time code only its time step is recorded. */
export const verificationEvents = defineEvents('verification', {
  VerificationSucceeded: {
    version: 1,
    schema: z.object({ ...tried, step: z.int().nullable() }),
    about,
    audit: 'verification.succeeded',
  },
  VerificationFailed: { version: 1, schema: z.object(tried), about, audit: 'verification.failed' },
  /** The limit was reached, and the code was not checked. */
  VerificationRefused: { version: 1, schema: z.object(tried), about, audit: 'verification.refused' },
  VerificationAlertRaised: {
    version: 1,
    schema: z.object({ alertId: uuid(), userId, alertType: z.literal('repeated_failures'), failures: z.int().min(1) }),
    about,
    audit: 'verification.alert_raised',
  },
  VerificationAlertRead: {
    version: 1,
    schema: z.object({ alertId: uuid(), userId, at: z.iso.datetime() }),
    about,
    audit: 'verification.alert_read',
  },
});
