/** Of the observations of one event, before what is personal is sealed. Sealing adds a third at most (base64). */
const MAX_BYTES = 600 * 1024;

interface PortionLimits {
  readonly bytes?: number;
  readonly items?: number;
}

/** Cuts a list so that each portion fits into one event of the store, whatever is in it; nearly always there is one. */
export function inChunks<Item>(
  list: readonly Item[],
  { bytes: mostBytes = MAX_BYTES, items: mostItems = Infinity }: PortionLimits = {},
): (readonly Item[])[] {
  const portions: Item[][] = [];
  let room = 0;
  for (const item of list) {
    const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
    if (portions.length === 0 || bytes > room || portions.at(-1)!.length === mostItems) {
      portions.push([]);
      room = mostBytes;
    }
    portions.at(-1)!.push(item);
    room -= bytes;
  }
  return portions;
}
