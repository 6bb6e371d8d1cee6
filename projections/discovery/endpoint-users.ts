import { credentialId } from '../../src/contexts/credentials/domain/identity.ts';
import { loginsIn } from '../../src/contexts/credentials/domain/observed-login.ts';
import { byHost, earlier, later, span, type HostSightings } from '../../src/contexts/discovery/domain/sightings.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import {
  bigint,
  defineReadModel,
  flag,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  domain: text,
  user_id: id,
  site: text,
  event_count: bigint,
  first_seen_at: timestamp,
  last_seen_at: timestamp,
  /** Accounts for which this person entered a password on this host. */
  credential_ids: json<readonly string[]>(),
  credential_count: integer,
  signs_in: flag,
  sign_ins: bigint,
  last_sign_in_at: nullable(timestamp),
};
export type EndpointUserRow = Row<{ columns: typeof columns }>;

const MAX_CREDENTIALS = 100;

/** The people seen on each host, one row per pair, so that people are counted in an index. */
export const endpointUsers = defineReadModel({
  name: 'endpoint_users',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['domain', 'user_id'],
  indexes: [
    ['user_id'],
    ['site', 'user_id'],
    '(tenant_id, domain, user_id) where signs_in',
    '(tenant_id, domain) include (credential_count) where credential_count > 0',
  ],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ tenantId, data: { userId, observations } }) =>
      byHost(observations).map((seen) => ({
        key: { domain: seen.domain, user_id: userId },
        fold: (row: EndpointUserRow | undefined) => seenAgain(tenantId, row ?? firstSeen(userId, seen), seen),
      })),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});

const firstSeen = (userId: string, { domain, site, firstSeenAt, lastSeenAt }: HostSightings): EndpointUserRow => ({
  domain,
  user_id: userId,
  site,
  event_count: 0,
  first_seen_at: firstSeenAt,
  last_seen_at: lastSeenAt,
  credential_ids: [],
  credential_count: 0,
  signs_in: false,
  sign_ins: 0,
  last_sign_in_at: null,
});

function seenAgain(
  tenantId: string,
  row: EndpointUserRow,
  { domain, observations, firstSeenAt, lastSeenAt }: HostSightings,
): EndpointUserRow {
  const signIns = observations.filter(isSignIn);
  const credentials = new Set(row.credential_ids);
  for (const { username } of loginsIn(signIns)) {
    if (credentials.size < MAX_CREDENTIALS) credentials.add(credentialId(tenantId, row.user_id, domain, username));
  }
  return {
    ...row,
    event_count: row.event_count + observations.length,
    first_seen_at: earlier(row.first_seen_at, firstSeenAt),
    last_seen_at: later(row.last_seen_at, lastSeenAt),
    ...(credentials.size > row.credential_count && {
      credential_ids: [...credentials].toSorted(),
      credential_count: credentials.size,
    }),
    ...(signIns.length > 0 && {
      signs_in: true,
      sign_ins: row.sign_ins + signIns.length,
      last_sign_in_at: later(row.last_sign_in_at ?? '', span(signIns).lastSeenAt),
    }),
  };
}

/** Whether an observation makes its host a sign-in host. */
export const isSignIn = ({ kind }: Observation): boolean => kind === 'auth_flow' || kind === 'credential_attempt';
