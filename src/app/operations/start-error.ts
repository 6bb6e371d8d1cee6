import { WrongAuditKey } from '../../contexts/audit/audit-key.ts';
import { UnusablePair } from '../../contexts/certificates/server-certificate.ts';
import { UnusableHost } from '../http/refused-listening.ts';
import { ConfigError } from '../../platform/config-error.ts';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { EmbeddedPostgresFailed, UnusableCluster } from '../../platform/embedded/failed.ts';
import { DataDirectoryInUse } from '../../platform/embedded/ownership.ts';
import { EventStoreUnavailable } from '../../platform/eventstore/port.ts';
import { unwritablePath } from '../../platform/objects/storage-full.ts';
import { NotAFile } from '../../platform/file-content.ts';
import { Unseen } from '../../platform/is-found.ts';
import { UnusableFolder } from '../../platform/usable-folder.ts';
import { LostDatabase } from './lost-database.ts';
import { WrongMasterKey } from '../../platform/vault/keyrings.ts';

const SENTENCES = [
  ConfigError,
  WrongMasterKey,
  EventStoreUnavailable,
  DataDirectoryInUse,
  EmbeddedPostgresFailed,
  NotAFile,
  Unseen,
];

const LASTING = [
  WrongMasterKey,
  WrongAuditKey,
  UnusableHost,
  UnusablePair,
  UnusableCluster,
  UnusableFolder,
  LostDatabase,
  NotAFile,
];

/** Why a start failed: one sentence for a wrong setting or an outage, and the stack for any other error. */
export function describeStartError(error: unknown): string {
  const unwritable = unwritablePath(error);
  if (unwritable)
    return `${unwritable} cannot be written (${(error as { code: string }).code}). Set DATA_DIR to a directory that this user can write to.`;
  if (SENTENCES.some((kind) => error instanceof kind)) return (error as Error).message;
  if (isDiskFull(error)) return `the disk of the database is full (${(error as Error).message})`;
  if (isRefusedLogin(error)) return `DATABASE_URL: the database refuses the login (${(error as Error).message})`;
  if (isForbidden(error))
    return `the database refuses what its user or a role of the service must be allowed (${(error as Error).message}): run \`castellan doctor\`, and the SQL of \`castellan database roles\` as an administrator. If a dump was restored with --no-owner by another user, restore it as the user of DATABASE_URL`;
  if (isDatabaseUnavailable(error)) return `DATABASE_URL: the database cannot be reached (${(error as Error).message})`;
  return (error as Error).stack ?? String(error);
}

/**
 * What a person must correct: a key that is not the database's, a host that is not this machine's, a pair of TLS or a
 * cluster that is none or absent, or something else in the place of a file. A further start would be refused, too.
 */
export const isLasting = (error: unknown): boolean =>
  LASTING.some((kind) => error instanceof kind) || (error instanceof Unseen && error.isLasting);

const isDiskFull = (error: unknown): boolean => (error as { code?: unknown }).code === '53100';

const isForbidden = (error: unknown): boolean => (error as { code?: unknown }).code === '42501';

/** Invalid authorization, or a database that does not exist. */
const isRefusedLogin = (error: unknown): boolean =>
  /^(28...|3D000)$/.test((error as { code?: unknown }).code?.toString() ?? '');
