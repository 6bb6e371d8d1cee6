/**
 * Gain: `npm run bench -- without binary-arrays`: 1.09 (95 %: 1.03 to 1.15) at 32 callers, 1.05 (1.02 to 1.10) at
 * 256.
 *
 * One-dimensional arrays in PostgreSQL's binary format. The driver sends a Buffer as a binary parameter without
 * conversion. Reading one costs the server a copy. Parsing a text array, or JSON instead, cost more than the
 * statement itself.
 *
 * Layout (`array_recv`): dimensions, has-nulls, element type, length, lower bound, then each element after its
 * length.
 */
const HEADER = 20;
/** `pg_type.oid`; these values never change (src/include/catalog/pg_type.dat of PostgreSQL). */
const OID = { bytea: 17, int8: 20, int2: 21, int4: 23, text: 25, json: 114, uuid: 2950 } as const;

export const int2Array = (items: readonly number[]): Buffer =>
  fixed(OID.int2, 2, items, (to, item, at) => to.writeInt16BE(item, at));
export const int4Array = (items: readonly number[]): Buffer =>
  fixed(OID.int4, 4, items, (to, item, at) => to.writeInt32BE(item, at));
export const int8Array = (items: readonly bigint[]): Buffer =>
  fixed(OID.int8, 8, items, (to, item, at) => to.writeBigInt64BE(item, at));
export const uuidArray = (items: readonly string[]): Buffer => fixed(OID.uuid, 16, items, writeUuid);
export const textArray = (items: readonly string[]): Buffer => texts(OID.text, items);
/** Items are JSON texts. */
export const jsonArray = (items: readonly string[]): Buffer => texts(OID.json, items);
/** Items are byte strings of one length, in hexadecimal. */
export const digestArray = (items: readonly string[]): Buffer =>
  fixed(OID.bytea, (items[0]?.length ?? 0) >> 1, items, (to, item, at) => to.write(item, at, 'hex'));

function header(to: Buffer, oid: number, length: number): Buffer {
  to.writeInt32BE(length === 0 ? 0 : 1, 0);
  to.writeInt32BE(0, 4);
  to.writeInt32BE(oid, 8);
  if (length === 0) return to;
  to.writeInt32BE(length, 12);
  to.writeInt32BE(1, 16);
  return to;
}

const empty = (oid: number): Buffer => header(Buffer.allocUnsafe(12), oid, 0);

function fixed<Item>(
  oid: number,
  size: number,
  items: readonly Item[],
  write: (to: Buffer, item: Item, at: number) => void,
): Buffer {
  if (items.length === 0) return empty(oid);
  const to = header(Buffer.allocUnsafe(HEADER + items.length * (4 + size)), oid, items.length);
  let at = HEADER;
  for (const item of items) {
    to.writeInt32BE(size, at);
    write(to, item, at + 4);
    at += 4 + size;
  }
  return to;
}

const HYPHEN = 45;
/** The value of a hexadecimal digit by its character code; 255 for other characters. */
const NIBBLES = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 255 : value;
});

/** Writes the 16 bytes of a UUID in its usual form (RFC 9562 §4). Throws `TypeError` for any other text. */
export function writeUuid(to: Buffer, uuid: string, at: number): void {
  let byte = at;
  for (let read = 0; read < 36; read += 2) {
    if (read === 8 || read === 13 || read === 18 || read === 23) {
      if (uuid.charCodeAt(read) !== HYPHEN) throw new TypeError('not a uuid');
      read += 1;
    }
    const high = NIBBLES[uuid.charCodeAt(read)] ?? 255;
    const low = NIBBLES[uuid.charCodeAt(read + 1)] ?? 255;
    if (high > 15 || low > 15) throw new TypeError('not a uuid');
    to[byte] = (high << 4) | low;
    byte += 1;
  }
}

function texts(oid: number, items: readonly string[]): Buffer {
  if (items.length === 0) return empty(oid);
  let most = HEADER;
  // A UTF-16 unit takes at most three bytes of UTF-8.
  for (const item of items) most += 4 + item.length * 3;
  const to = header(Buffer.allocUnsafe(most), oid, items.length);
  let at = HEADER;
  for (const item of items) {
    const size = to.write(item, at + 4);
    to.writeInt32BE(size, at);
    at += 4 + size;
  }
  return to.subarray(0, at);
}
