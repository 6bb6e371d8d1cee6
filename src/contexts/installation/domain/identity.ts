import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { INSTALLATION, uuid } from '../../../platform/kernel/ids.ts';

/** How streams, claims and events of this version are written. A log of a higher format is not touched. */
export const LOG_FORMAT = 1;

const fingerprint = z.string().regex(/^[0-9a-f]{16}$/);

/**
 * Names the keys without which a log cannot be continued: the one of the audit chain, and those whose digests stand in events and
 * claims. They stay as long as the log. The master key is not among them, because another one can replace it.
 */
export const keyFingerprintsSchema = z.object({
  audit: fingerprint,
  account: fingerprint,
  claim: fingerprint,
  credentialSalt: fingerprint,
});
export type KeyFingerprints = Readonly<z.output<typeof keyFingerprintsSchema>>;

/** An event must stay small, however many chains there are. */
export const MAX_HEADS_NAMED = 1_000;

const position = z.string().regex(/^\d{1,20}$/);
const count = z.int().nonnegative();
const about = { resource: 'installation', id: 'installationId' } as const;

/** Whose log this is, and what was done to bring log and tables together again. */
export const installationEvents = defineEvents('installation', {
  InstallationIdentified: {
    version: 1,
    schema: z.object({ installationId: uuid(), format: z.int().positive(), keys: keyFingerprintsSchema }),
    about,
    audit: 'installation.identified',
  },
  /** The tables were brought to the log as it is. What the log had lost before is gone for good. */
  LogAccepted: {
    version: 1,
    schema: z.object({
      installationId: uuid(),
      reason: z.string(),
      mismatch: z.string(),
      logEnd: position,
      tablesReached: position,
      /** How many chains have sealed heads that the log does not hold; the first ones by name, with the highest sequence that was sealed. */
      chainsCut: count,
      headsDropped: z.array(z.object({ owner: uuid(), sequence: z.int().positive() })).max(MAX_HEADS_NAMED),
    }),
    about,
    audit: 'installation.log_accepted',
  },
  /** Older tables were brought to the newer log, without what only the newer tables had. */
  TablesRebuilt: {
    version: 1,
    schema: z.object({
      installationId: uuid(),
      reason: z.string(),
      mismatch: z.string(),
      logEnd: position,
      tablesReached: position,
      /** Persons whose keys only the newer tables had. */
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

/** A log has one such stream, and its first event says whose log it is. */
export const installationStream = (): string => streamName('installation', INSTALLATION, INSTALLATION);
