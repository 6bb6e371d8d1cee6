import type { z } from 'zod';
import {
  installation,
  installationStream,
  type installationEvents,
} from '../../src/contexts/installation/domain/identity.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

type Identity = z.output<typeof installationEvents.definitions.InstallationIdentified.schema>;

/** Writes into a log whose it is. A log that belongs to an installation stays what it is: the caller compares. */
export const identifyInstallation = defineCommand({
  name: 'IdentifyInstallation',
  aggregate: installation,
  stream: (_identity: Identity) => installationStream(),
  decide: ({ id }, identity) => accept(id === undefined ? [{ type: 'InstallationIdentified', data: identity }] : []),
});
