import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

export const updateActions = ['apply', 'rollback'] as const;
export type UpdateAction = (typeof updateActions)[number];

const version = z.string();
const moment = z.iso.datetime();

/** A bundle in the object store. Its bytes are there in pieces, its digest is here. */
export const storedBundle = z.object({
  bundleId: uuid(),
  version,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().positive(),
  pieces: z.int().positive(),
  isSigned: z.boolean(),
});
export type StoredBundle = z.output<typeof storedBundle>;

const move = { updateId: uuid(), action: z.enum(updateActions), fromVersion: version, toVersion: version };

/** Updates of the installation's software (OP-207 to OP-209). They belong to no tenant. */
export const softwareUpdateEvents = defineEvents('softwareUpdate', {
  /** Until `until`, nobody else asks the feed. A check that ends later than that has failed. */
  UpdateCheckBegun: {
    version: 1,
    schema: z.object({ checkId: uuid(), until: moment }),
    audit: 'software_update.check_begun',
  },
  UpdateCheckEnded: {
    version: 1,
    schema: z.object({
      checkId: uuid(),
      checkedAt: moment,
      /** The version that the feed names; null if the check failed. */
      found: z.object({ version, releaseNotes: z.string().nullable() }).nullable(),
      failure: z.string().nullable(),
    }),
    audit: 'software_update.checked',
  },
  /** Until `until`, no other download begins. One that takes longer has failed. */
  UpdateDownloadBegun: {
    version: 1,
    schema: z.object({ downloadId: uuid(), version, begunAt: moment, until: moment }),
    audit: 'software_update.download_begun',
  },
  UpdateDownloadEnded: {
    version: 1,
    schema: z.object({
      downloadId: uuid(),
      version,
      endedAt: moment,
      /** In fixed words; null: the bundle is staged. */
      failure: z.string().nullable(),
    }),
    audit: 'software_update.download_ended',
  },
  /** Digest and signature were checked before. */
  UpdateStaged: {
    version: 1,
    schema: z.object({ bundle: storedBundle }),
    audit: 'software_update.staged',
  },
  /** From here to its end nothing else begins, on any node. */
  UpdateBegun: {
    version: 1,
    schema: z.object({ ...move, bundle: storedBundle.nullable(), begunAt: moment, until: moment }),
    audit: 'software_update.begun',
  },
  /** A process runs the operator's command, once and not again, at most until `until`. */
  UpdateCommandStarted: {
    version: 1,
    schema: z.object({ updateId: uuid(), startedAt: moment, until: moment }),
    audit: 'software_update.command_started',
  },
  UpdateEnded: {
    version: 1,
    schema: z.object({
      ...move,
      hasSucceeded: z.boolean(),
      endedAt: moment,
      /** Of the command; null without a command, and where it did not end by itself. */
      exitCode: z.int().nullable(),
      /** Why it failed, or how the outcome is known without the command's exit code, in fixed words. */
      reason: z.string().nullable(),
      /** The end of the command's output. */
      output: z.string().nullable(),
    }),
    concealed: ['output'],
    audit: 'software_update.ended',
  },
});
export type SoftwareUpdateEvent = EventOf<typeof softwareUpdateEvents>;
