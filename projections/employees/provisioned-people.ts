import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { folded, type ProvisioningKind } from '../../src/contexts/employees/domain/provisioning.ts';
import { ERASED, type EventOf, type RecordedEvent } from '../../src/platform/kernel/event.ts';
import {
  at,
  defineReadModel,
  flag,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

export type Profile = Readonly<Record<string, unknown>>;

/**
 * What each source said about each person whom it has linked now. Names are compared in the columns `…_folded`, which
 * hold them in NFC and lower case.
 */
const columns = {
  source_kind: text as Column<ProvisioningKind>,
  /** The id of the SCIM client's record or of the directory source. */
  source_id: id,
  user_id: id,
  external_id: nullable(text),
  user_name: text,
  user_name_folded: text,
  /** Further SCIM attributes as the client sent them; null from a directory. */
  profile: nullable(json<Profile>()),
  email: text,
  email_folded: text,
  /** `email` and every `profile.emails[].value`, folded: a list of texts for `emails.value eq`. */
  emails_folded: json<readonly string[]>(),
  display_name: text,
  given_name: nullable(text),
  family_name: nullable(text),
  job_title: nullable(text),
  department: nullable(text),
  /** What this source says. The person is inactive as soon as one source says so. */
  is_active: flag,
  upn: nullable(text),
  sid: nullable(text),
  version: integer,
  created_at: timestamp,
  modified_at: timestamp,
};
export type ProvisionedPersonRow = Row<{ columns: typeof columns }>;

type Stated = RecordedEvent<
  Extract<EventOf<typeof employeeEvents>, { type: 'EmployeeLinked' | 'EmployeeLinkChanged' }>
>;

const keyOf = ({ userId, source }: { userId: string; source: { kind: ProvisioningKind; id: string } }) => ({
  source_kind: source.kind,
  source_id: source.id,
  user_id: userId,
});

function rowOf(event: Stated, createdAt: string): ProvisionedPersonRow | undefined {
  const { data } = event;
  // The person is erased later in the log: there is nothing to show.
  if (data.userName === ERASED) return undefined;
  const profile = profileOf(data.profile);
  const name = isRecord(profile?.['name']) ? profile['name'] : {};
  // Named members first, here and in other places that run for each person: after a spread, each takes a microsecond.
  return {
    external_id: data.externalId,
    user_name: data.userName,
    user_name_folded: folded(data.userName),
    profile,
    email: data.email,
    email_folded: folded(data.email),
    emails_folded: addressesOf(data.email, profile),
    display_name: data.displayName,
    given_name: textOf(name['givenName']),
    family_name: textOf(name['familyName']),
    job_title: data.jobTitle,
    department: data.department,
    is_active: data.isActive,
    upn: data.upn,
    sid: data.sid,
    version: data.version,
    created_at: createdAt,
    modified_at: at(event),
    ...keyOf(data),
  };
}

const isRecord = (value: unknown): value is Profile =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function profileOf(stored: string | null): Profile | null {
  try {
    const parsed: unknown = stored === null ? null : JSON.parse(stored);
    return isRecord(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function addressesOf(email: string, profile: Profile | null): string[] {
  const listed = Array.isArray(profile?.['emails']) ? (profile['emails'] as unknown[]) : [];
  const values = listed.flatMap((entry) => (isRecord(entry) ? (textOf(entry['value']) ?? []) : []));
  return [...new Set([email, ...values].map(folded))];
}

export const provisionedPeople = defineReadModel({
  name: 'provisioned_people',
  version: 1,
  lane: 'main',
  columns,
  key: ['source_kind', 'source_id', 'user_id'],
  indexes: [
    ['user_id'],
    ['source_kind', 'source_id', 'created_at', 'user_id'],
    ['source_kind', 'source_id', 'modified_at', 'user_id'],
    ['source_kind', 'source_id', 'user_name_folded', 'user_id'],
    ['source_kind', 'source_id', 'external_id'],
    ['source_kind', 'source_id', 'email_folded'],
    'using gin (tenant_id, source_id, emails_folded)',
  ],
  families: [employeeEvents],
  on: {
    // A link that ended has left no row.
    EmployeeLinked: (event) => ({ key: keyOf(event.data), begins: true, fold: () => rowOf(event, at(event)) }),
    EmployeeLinkChanged: (event) => ({
      key: keyOf(event.data),
      fold: (row) => row && rowOf(event, row.created_at),
    }),
    EmployeeUnlinked: ({ data }) => ({ key: keyOf(data), fold: () => undefined }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
