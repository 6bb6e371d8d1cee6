/** Size of one event's observations before personal fields are sealed. Sealing adds at most a third (base64). */
const MAX_BYTES = 600 * 1024;

interface PortionLimits {
  readonly bytes?: number;
  readonly items?: number;
}

/** Splits a list into chunks that each fit into one event of the store. Usually there is one chunk. */
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
