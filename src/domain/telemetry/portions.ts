import type { Observation } from './observation.ts';

/** Of the observations of one event, before what is personal is sealed. Sealing adds a third at most (base64). */
const MOST_BYTES = 600 * 1024;

/** Cuts a batch so that each portion fits into one event of the store, whatever is in it; nearly always there is one. */
export function inPortions(observations: readonly Observation[]): (readonly Observation[])[] {
  const portions: Observation[][] = [];
  let room = 0;
  for (const observation of observations) {
    const bytes = Buffer.byteLength(JSON.stringify(observation)) + 1;
    if (bytes > room || portions.length === 0) {
      portions.push([]);
      room = MOST_BYTES;
    }
    portions.at(-1)!.push(observation);
    room -= bytes;
  }
  return portions;
}
