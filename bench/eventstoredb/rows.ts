import type { Row } from '../measure.ts';
import { appends } from './appends.ts';
import { batchedAppends } from './batched-appends.ts';
import { claimingAppends } from './claiming-appends.ts';
import { measure as feed } from './all-stream.ts';
import { groupCreation } from './group-creation.ts';
import { measure as seats } from './seats.ts';
import type { EventStoreServer } from './server.ts';

/**
 * The measurements, each in its own file. A whole service comes first, while the log of a given server is still short.
 */
export const rows: readonly ((server: EventStoreServer) => Promise<Row[]>)[] = [
  groupCreation,
  seats,
  appends,
  claimingAppends,
  batchedAppends,
  feed,
];
