import { randomUUID } from 'node:crypto';
import { hasId, noIds, withIds, type SeenIds } from '../../src/contexts/telemetry/domain/seen-ids.ts';
import { perSecond } from '../measure.ts';
import type { Running } from './running.ts';

const BATCH = 500;
const BATCHES = 60;

/** A device's day of 30,000 observations, in batches: each is looked up before it is accepted. */
export function busyDevice(): Promise<Running> {
  const batches = Array.from({ length: BATCHES }, () => Array.from({ length: BATCH }, () => randomUUID()));
  const day = () => {
    let seen: SeenIds = noIds;
    for (const ids of batches)
      seen = withIds(
        seen,
        ids.filter((id) => !hasId(seen, id)),
      );
    return Promise.resolve(seen.size);
  };
  return Promise.resolve({ round: () => perSecond(BATCHES * BATCH, day), stop: () => Promise.resolve() });
}
