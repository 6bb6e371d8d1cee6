import { credentialId, reuseId } from '../../src/contexts/credentials/domain/identity.ts';
import { loginsIn, type ObservedLogin } from '../../src/contexts/credentials/domain/observed-login.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import {
  bigint,
  defineReadModel,
  flag,
  id,
  nullable,
  text,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  user_id: id,
  domain: text,
  /** Empty if the page asked only for a password. */
  username: text,
  password_hash: text,
  credential_id: id,
  reuse_id: id,
  /** The registrable domain. */
  site: text,
  /** URL of the latest use. */
  url: nullable(text),
  first_seen_at: timestamp,
  last_seen_at: timestamp,
  entry_count: bigint,
  is_breached: flag,
};
export type CredentialUseRow = Row<{ columns: typeof columns }>;

/**
 * The uses of one password for one account on one site. A credential is all rows of an account; a reuse is all rows of
 * a password. Every column is a sum, an extreme or an "ever", so that order and batching of observations do not matter.
 */
export const credentialUses = defineReadModel({
  name: 'credential_uses',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['user_id', 'domain', 'username', 'password_hash'],
  indexes: [['site'], '(tenant_id, user_id) where is_breached'],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ tenantId, data: { userId, observations } }) =>
      loginsIn(observations).map((login) => {
        const { domain, username, passwordHash } = login;
        return {
          key: { user_id: userId, domain, username, password_hash: passwordHash },
          fold: (row: CredentialUseRow | undefined) =>
            row ? usedAgain(row, login) : firstUse(tenantId, userId, login),
        };
      }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});

const firstUse = (
  tenantId: string,
  userId: string,
  { observation, domain, site, username, passwordHash }: ObservedLogin,
): CredentialUseRow => ({
  user_id: userId,
  domain,
  username,
  password_hash: passwordHash,
  credential_id: credentialId(tenantId, userId, domain, username),
  reuse_id: reuseId(tenantId, userId, passwordHash),
  site,
  url: observation.url,
  first_seen_at: observation.occurredAt,
  last_seen_at: observation.occurredAt,
  entry_count: 1,
  is_breached: observation.isBreached,
});

function usedAgain(
  row: CredentialUseRow,
  { observation: { occurredAt, url, isBreached } }: ObservedLogin,
): CredentialUseRow {
  const later = occurredAt > row.last_seen_at || (occurredAt === row.last_seen_at && (url ?? '') > (row.url ?? ''));
  return {
    ...row,
    url: later ? url : row.url,
    first_seen_at: occurredAt < row.first_seen_at ? occurredAt : row.first_seen_at,
    last_seen_at: later ? occurredAt : row.last_seen_at,
    entry_count: row.entry_count + 1,
    is_breached: row.is_breached || isBreached,
  };
}
