import type { Row } from '../measure.ts';
import { appends } from './appends.ts';
import { batchedAppends } from './batched-appends.ts';
import { claimingAppends } from './claiming-appends.ts';
import { readAllStream } from './all-stream.ts';
import { readPartsOfLog } from './parts-of-log.ts';
import { groupCreation } from './group-creation.ts';
import { seats } from './seats.ts';
import type { EventStoreServer } from './server.ts';

/** The measurements, each in its own file. */
export const rows: Readonly<Record<string, (server: EventStoreServer) => Promise<Row[]>>> = {
  groupCreation,
  seats,
  appends,
  claimingAppends,
  batchedAppends,
  readAllStream,
  readPartsOfLog,
};
