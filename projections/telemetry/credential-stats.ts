import { credentialId } from '../../src/contexts/credentials/domain/identity.ts';
import { loginsIn, type ObservedLogin } from '../../src/contexts/credentials/domain/observed-login.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import { defineReadModel, id, integer, json, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

/** The password of a credential as last seen: its digest, when, and on which site. */
type Current = readonly [passwordHash: string, seenAt: string, site: string];

const columns = {
  user_id: id,
  total_credentials: integer,
  total_sites: integer,
  reused_count: integer,
  breached_count: integer,
  last_activity_at: timestamp,
  credentials: json<Readonly<Record<string, Current>>>(),
  /** Digests that were ever reported as breached: the password counts as breached everywhere. */
  breached: json<readonly string[]>(),
};
export type CredentialStatsRow = Row<{ columns: typeof columns }>;

/**
 * Nobody has this many accounts. Limits a browser that reports more, so that it does not slow down counting for others.
 */
const MAX_CREDENTIALS = 2_000;

/**
 * The current state of a person's passwords. One short row per person, so that tenant figures are a sum over people and
 * independent of the number of observations.
 */
export const credentialStats = defineReadModel({
  name: 'credential_stats',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['user_id'],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ tenantId, data: { userId, observations } }) => {
      const logins = loginsIn(observations);
      if (logins.length === 0) return [];
      return {
        key: { user_id: userId },
        fold: (row: CredentialStatsRow | undefined) => counted(tenantId, userId, row, logins),
      };
    },
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});

function counted(
  tenantId: string,
  userId: string,
  row: CredentialStatsRow | undefined,
  logins: readonly ObservedLogin[],
): CredentialStatsRow {
  const credentials = new Map(Object.entries(row?.credentials ?? {}));
  const breached = new Set(row?.breached);
  let lastActivity = row?.last_activity_at ?? '';
  for (const { observation, domain, site, username, passwordHash } of logins) {
    const { occurredAt, isBreached } = observation;
    const name = credentialId(tenantId, userId, domain, username);
    const known = credentials.get(name);
    if (!known && credentials.size >= MAX_CREDENTIALS) continue;
    if (!known || isLater([passwordHash, occurredAt, site], known))
      credentials.set(name, [passwordHash, occurredAt, site]);
    if (isBreached && breached.size < MAX_CREDENTIALS) breached.add(passwordHash);
    if (occurredAt > lastActivity) lastActivity = occurredAt;
  }
  return {
    user_id: userId,
    ...figures(credentials.values(), breached),
    last_activity_at: lastActivity,
    credentials: Object.fromEntries(credentials),
    breached: [...breached].sort(),
  };
}

/** A total order: of two passwords entered in the same millisecond, always the same one counts as the newest. */
const isLater = ([hash, at]: Current, [knownHash, knownAt]: Current): boolean =>
  at > knownAt || (at === knownAt && hash > knownHash);

function figures(credentials: Iterable<Current>, breached: ReadonlySet<string>) {
  const all = [...credentials];
  const sitesOf = new Map<string, Set<string>>();
  for (const [hash, , site] of all) sitesOf.set(hash, (sitesOf.get(hash) ?? new Set()).add(site));
  return {
    total_credentials: all.length,
    total_sites: new Set(all.map(([, , site]) => site)).size,
    reused_count: all.filter(([hash]) => sitesOf.get(hash)!.size > 1).length,
    breached_count: all.filter(([hash]) => breached.has(hash)).length,
  };
}
