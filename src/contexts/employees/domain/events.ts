import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/** Where an employee's record came from (choice OP-060). */
export const employeeSources = ['manual', 'import', 'scim', 'directory', 'enrollment'] as const;
export type EmployeeSource = (typeof employeeSources)[number];

const userId = uuid();
const personal = {
  subject: 'userId',
  fields: ['email', 'emailDigest', 'displayName', 'department', 'jobTitle', 'externalId'],
} as const;

/**
 * A monitored person's stream. All that is theirs is sealed under their own key, the keyed digest of the e-mail too: once
 * the key is destroyed, nobody can even try an address against the log.
 */
export const employeeEvents = defineEvents('employee', {
  EmployeeCreated: {
    version: 1,
    schema: z.object({
      userId,
      email: z.string(),
      emailDigest: z.string(),
      displayName: z.string(),
      department: z.string().nullable(),
      jobTitle: z.string().nullable(),
      /** The person's id at an identity provider or a directory. */
      externalId: z.string().nullable(),
      source: z.enum(employeeSources),
      isActive: z.boolean(),
      /** Made for a device that enrolled before anybody said whose it is. */
      isPlaceholder: z.boolean(),
      /** Which of the license's seats this employee takes. */
      seat: z.int(),
    }),
    personal,
    audit: 'employee.created',
  },
  /** Carries what was changed and nothing else. An e-mail of their own ends being a placeholder. */
  EmployeeUpdated: {
    version: 1,
    schema: z.object({
      userId,
      email: z.string().optional(),
      emailDigest: z.string().optional(),
      displayName: z.string().optional(),
      department: z.string().nullable().optional(),
      jobTitle: z.string().nullable().optional(),
      externalId: z.string().nullable().optional(),
      isActive: z.boolean().optional(),
    }),
    personal,
    audit: 'employee.updated',
  },
  EmployeeDeleted: { version: 1, schema: z.object({ userId }), audit: 'employee.deleted' },
  EmployeeErasureRequested: { version: 1, schema: z.object({ userId }), audit: 'employee.erasure_requested' },
  /** The person's key has been destroyed: what was sealed under it is gone from the log, and read models drop what they kept. */
  EmployeeErased: { version: 1, schema: z.object({ userId }), audit: 'employee.erased' },
});
export type EmployeeEvent = EventOf<typeof employeeEvents>;
