/** OP-602. Deeper than any input that a route knows. */
export const MAX_DEPTH = 32;
/** Where a route names no other number. A body of 1 MiB with inventories of a device that was offline has less. */
export const MAX_PARTS = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [COMMA, COLON, OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = [...',:[{]}'].map((c) => c.charCodeAt(0));

/**
 * What is wrong with the shape of a JSON text, before it is parsed: parsing a megabyte of brackets or of different names
 * takes the process forty times as long as parsing a megabyte of text. Parts are objects, lists, members and
 * elements. The text need not be valid.
 */
export function tooMuchIn(json: Buffer, maxParts = MAX_PARTS): string | undefined {
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case QUOTE:
        at = endOfText(json, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        parts += 1;
        if ((depth += 1) > MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH}`;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      case COMMA:
      case COLON:
        parts += 1;
    }
    if (parts > maxParts) return `must not have more than ${maxParts} parts`;
  }
  return undefined;
}

/** The place of the quote that ends the text begun at `begin`; the end of the JSON if there is none. */
function endOfText(json: Buffer, begin: number): number {
  for (let at = begin + 1; at < json.length; at += 1) {
    if (json[at] === QUOTE) return at;
    if (json[at] === BACKSLASH) at += 1;
  }
  return json.length;
}
