import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { INSTALLATION, uuid } from '../../../platform/kernel/ids.ts';

/** Format of streams, claims and events in this version. A log of a higher format is not written to. */
export const LOG_FORMAT = 1;

const fingerprint = z.string().regex(/^[0-9a-f]{16}$/);

/**
 * Fingerprints of the keys that a log depends on: the key of the audit chain, and those whose digests are in events and
 * claims. They must stay the same as long as the log exists. The master key is not included, because it can be
 * replaced.
 */
export const keyFingerprintsSchema = z.object({
  audit: fingerprint,
  account: fingerprint,
  claim: fingerprint,
  credentialSalt: fingerprint,
});
export type KeyFingerprints = Readonly<z.output<typeof keyFingerprintsSchema>>;

/** Limits the size of the event: there may be many chains. */
export const MAX_HEADS_NAMED = 1_000;

const position = z.string().regex(/^\d{1,20}$/);
const count = z.int().nonnegative();
const about = { resource: 'installation', id: 'installationId' } as const;

/** The identity of the installation that owns this log, and each restore that brought log and tables back together. */
export const installationEvents = defineEvents('installation', {
  InstallationIdentified: {
    version: 1,
    schema: z.object({ installationId: uuid(), format: z.int().positive(), keys: keyFingerprintsSchema }),
    about,
    audit: 'installation.identified',
  },
  /** The tables were adjusted to the log. Events that the log had already lost cannot be recovered. */
  LogAccepted: {
    version: 1,
    schema: z.object({
      installationId: uuid(),
      reason: z.string(),
      mismatch: z.string(),
      logEnd: position,
      tablesReached: position,
      /**
       * How many chains have sealed heads that the log does not contain. The list names the first ones, with the
       * highest sealed sequence.
       */
      chainsCut: count,
      headsDropped: z.array(z.object({ owner: uuid(), sequence: z.int().positive() })).max(MAX_HEADS_NAMED),
    }),
    about,
    audit: 'installation.log_accepted',
  },
  /** Older tables were adjusted to the newer log. Data that only the newer tables had is lost. */
  TablesRebuilt: {
    version: 1,
    schema: z.object({
      installationId: uuid(),
      reason: z.string(),
      mismatch: z.string(),
      logEnd: position,
      tablesReached: position,
      /** Persons whose keys were only in the newer tables. */
      personsLost: count,
    }),
    about,
    audit: 'installation.tables_rebuilt',
  },
});

export interface InstallationState {
  readonly id: string | undefined;
}

export const installation = defineAggregate<InstallationState, typeof installationEvents>(
  installationEvents,
  { id: undefined },
  (state, event) =>
    event.type === 'InstallationIdentified' && state.id === undefined ? { id: event.data.installationId } : state,
);

/** A log has one such stream. Its first event identifies the installation. */
export const installationStream = (): string => streamName('installation', INSTALLATION, INSTALLATION);
