import type { z } from 'zod';
import {
  installation,
  installationStream,
  type installationEvents,
} from '../../src/contexts/installation/domain/identity.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

type Accepted = z.output<typeof installationEvents.definitions.LogAccepted.schema>;
type Rebuilt = z.output<typeof installationEvents.definitions.TablesRebuilt.schema>;

/** For the audit log: an operator adjusted the tables to an older log. */
export const recordLogAccepted = defineCommand({
  name: 'RecordLogAccepted',
  aggregate: installation,
  stream: (_accepted: Accepted) => installationStream(),
  decide: (_state, data) => accept([{ type: 'LogAccepted', data }]),
});

/** For the audit log: an operator brought older tables up to the log. */
export const recordTablesRebuilt = defineCommand({
  name: 'RecordTablesRebuilt',
  aggregate: installation,
  stream: (_rebuilt: Rebuilt) => installationStream(),
  decide: (_state, data) => accept([{ type: 'TablesRebuilt', data }]),
});
