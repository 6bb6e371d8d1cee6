import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { INSTALLATION } from '../../../platform/kernel/ids.ts';

const fingerprint = z.string().regex(/^[0-9a-f]{16}$/);

/** The master key that the installation uses. A fingerprint reveals nothing about its key. */
export const masterKeyEvents = defineEvents('masterKey', {
  MasterKeyReplaced: {
    version: 1,
    schema: z.object({ fingerprint, retired: z.array(fingerprint) }),
    about: { resource: 'master_key', id: 'fingerprint' },
    audit: 'master_key.replaced',
  },
});

export interface MasterKeyState {
  readonly fingerprint: string | undefined;
}

export const masterKeyRecord = defineAggregate<MasterKeyState, typeof masterKeyEvents>(
  masterKeyEvents,
  { fingerprint: undefined },
  (_state, { data: { fingerprint: current } }) => ({
    fingerprint: current,
  }),
);

/** The installation has one such stream. */
export const masterKeyStream = (): string => streamName('masterKey', INSTALLATION, INSTALLATION);
