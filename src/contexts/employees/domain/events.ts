import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { provisioningKinds } from './provisioning.ts';

/** Where an employee's record came from (choice OP-060). */
export const employeeSources = ['manual', 'import', 'scim', 'directory', 'enrollment'] as const;
export type EmployeeSource = (typeof employeeSources)[number];

const userId = uuid();
const personal = {
  subject: 'userId',
  fields: ['email', 'emailDigest', 'displayName', 'department', 'jobTitle', 'externalId'],
} as const;

const source = z.object({ kind: z.enum(provisioningKinds), id: uuid() });

/** A source's complete statement about the person. `profile` is JSON text: a sealed value must be a string. */
const statement = z.object({
  userId,
  source,
  version: z.int(),
  userName: z.string(),
  externalId: z.string().nullable(),
  email: z.string(),
  displayName: z.string(),
  department: z.string().nullable(),
  jobTitle: z.string().nullable(),
  isActive: z.boolean(),
  upn: z.string().nullable(),
  sid: z.string().nullable(),
  profile: z.string().nullable(),
});
const stated = {
  subject: 'userId',
  fields: ['userName', 'externalId', 'email', 'displayName', 'department', 'jobTitle', 'upn', 'sid', 'profile'],
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
  /** A SCIM client or a directory maintains the person from now on. Fields that it owns follow in `EmployeeUpdated`. */
  EmployeeLinked: { version: 1, schema: statement, personal: stated, audit: 'employee.linked' },
  EmployeeLinkChanged: { version: 1, schema: statement, personal: stated, audit: 'employee.link_changed' },
  /** `left`: the source says that the person left. `ended`: the source no longer maintains the person. */
  EmployeeUnlinked: {
    version: 1,
    schema: z.object({ userId, source, how: z.enum(['left', 'ended']) }),
    audit: 'employee.unlinked',
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
