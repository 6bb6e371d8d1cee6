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
 * A monitored person's stream. All personal fields are sealed under the person's own key, including the keyed digest of
 * the e-mail. Once the key is destroyed, an address cannot even be tested against the log.
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
      /** Created for a device that enrolled before its user was known. */
      isPlaceholder: z.boolean(),
      /** The number of the license seat that this employee occupies. */
      seat: z.int(),
    }),
    personal,
    audit: 'employee.created',
  },
  /** Carries only the changed fields. Setting an e-mail turns a placeholder into a regular employee. */
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
  /**
   * The person's key has been destroyed: fields sealed under it are lost from the log, and read models drop their
   * copies.
   */
  EmployeeErased: { version: 1, schema: z.object({ userId }), audit: 'employee.erased' },
});
export type EmployeeEvent = EventOf<typeof employeeEvents>;
