import { LOG_FORMAT, type KeyFingerprints } from './domain/identity.ts';
import type { MismatchKind } from '../../platform/eventstore/log-trust.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { Position } from '../../platform/kernel/event.ts';

/** A contradiction between log, tables and keys. `reason` is a sentence for operators. */
export interface Mismatch {
  readonly kind: MismatchKind;
  readonly reason: string;
}

/** The identity that the log or the tables record. */
export interface RecordedIdentity {
  readonly installationId: string;
  readonly format: number;
  readonly keys: KeyFingerprints;
}

export interface InstallationFacts {
  /** The keys that this process uses. */
  readonly own: KeyFingerprints;
  readonly log: {
    readonly identity: RecordedIdentity | undefined;
    readonly end: Position;
    /** The log contains events of an installation. Only relevant for a log without an identity. */
    readonly isUsed: boolean;
  };
  readonly tables: {
    readonly identity: (RecordedIdentity & { readonly inLog: boolean }) | undefined;
    /** The highest checkpoint of any read model or reaction. */
    readonly furthest: Position;
  };
  /** The position up to which this process has read. */
  readonly read: Position;
}

/** The mismatch, if there is one. If several apply, returns the one that explains the others. */
export function mismatchOf({ own, log, tables, read }: InstallationFacts): Mismatch | undefined {
  return (
    (log.identity ? strangerOf(own, log.identity, tables) : namelessLog(log, tables)) ??
    tooShort(log, tables.furthest, read)
  );
}

function strangerOf(
  own: KeyFingerprints,
  log: RecordedIdentity,
  { identity, furthest }: InstallationFacts['tables'],
): Mismatch | undefined {
  if (log.format > LOG_FORMAT)
    return {
      kind: 'another_installation',
      reason: `the event log has format ${log.format}, but this version supports ${LOG_FORMAT}: start a newer version`,
    };
  if (identity ? identity.installationId !== log.installationId : log.keys.audit !== own.audit) {
    return {
      kind: 'another_installation',
      reason: `the event log belongs to another installation, ${log.installationId}; the tables belong to ${identity ? identity.installationId : 'a new one with another AUDIT_HMAC_KEY'}`,
    };
  }
  if (!identity && furthest === 0n)
    return {
      kind: 'empty_tables',
      reason: `the tables are empty, but the event log is in use: it belongs to installation ${log.installationId}`,
    };
  const other = (Object.keys(log.keys) as (keyof KeyFingerprints)[]).filter((key) => log.keys[key] !== own[key]);
  if (other.length > 0)
    return {
      kind: 'keys_missing',
      reason: `keys are missing: the event log was written with other keys than these tables hold (${other.join(', ')})`,
    };
  return undefined;
}

function namelessLog(
  { end, isUsed }: InstallationFacts['log'],
  { identity, furthest }: InstallationFacts['tables'],
): Mismatch | undefined {
  if (isUsed && furthest === 0n && !identity)
    return {
      kind: 'empty_tables',
      reason: `the tables are empty, but the event log is in use: it ends at position ${end}`,
    };
  // Without an identity in the log, checkpoints may have passed records that are not ours: a server's own, or those of
  // other applications.
  const isKnown = identity ? identity.inLog || furthest > end : furthest > 0n;
  if (isKnown && !isUsed)
    return {
      kind: 'empty_log',
      reason: `the event log is empty: it ends at position ${end}, but read models or reactions have reached ${furthest}`,
    };
  if (identity?.inLog && isUsed)
    return {
      kind: 'log_older',
      reason: `the event log is older than its tables: it ends at position ${end}, before the event that identifies the installation`,
    };
  return undefined;
}

function tooShort({ end }: InstallationFacts['log'], furthest: Position, read: Position): Mismatch | undefined {
  if (furthest > end) return olderReason(end, furthest);
  if (read > end)
    return {
      kind: 'log_older',
      reason: `the event log went back: it ends at position ${end}, but a process has read it up to ${read}`,
    };
  return undefined;
}

/** The tables have come further than the log reaches. */
export const olderReason = (end: Position, furthest: Position): Mismatch => ({
  kind: 'log_older',
  reason: `the event log is older than its tables: it ends at position ${end}, but read models or reactions have reached ${furthest}`,
});

/** The log was copied to the other store. The remaining copy in this one is out of date and sealed. */
export const movedToReason = (store: EventStore['name']): Mismatch => ({
  kind: 'log_moved',
  reason:
    store === 'postgres'
      ? 'the event log is in PostgreSQL: remove EVENTSTORE_URL'
      : 'the event log was moved to EventStoreDB: set EVENTSTORE_URL',
});

/** A known event is no longer at its position. */
export const displacedReason = (position: Position): Mismatch => ({
  kind: 'log_older',
  reason: `the event log went back or was replaced: the event at position ${position} is not the one that was there before`,
});
