import type { z } from 'zod';
import {
  installation,
  installationStream,
  type installationEvents,
} from '../../src/contexts/installation/domain/identity.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

type Identity = z.output<typeof installationEvents.definitions.InstallationIdentified.schema>;

/** Records the installation's identity in the log. An existing identity is not changed; the caller compares it. */
export const identifyInstallation = defineCommand({
  name: 'IdentifyInstallation',
  aggregate: installation,
  stream: (_identity: Identity) => installationStream(),
  decide: ({ id }, identity) => accept(id === undefined ? [{ type: 'InstallationIdentified', data: identity }] : []),
});
