/** MS-DTYP §2.4.2: `S-1-5-21-…` from its bytes; undefined if they are no SID. */
export function sidText(bytes: Buffer): string | undefined {
  if (bytes.length < 8 || bytes[0] !== 1 || bytes.length !== 8 + 4 * bytes[1]!) return undefined;
  const authorities = Array.from({ length: bytes[1]! }, (_, at) => bytes.readUInt32LE(8 + 4 * at));
  return ['S', 1, bytes.readUIntBE(2, 6), ...authorities].join('-');
}

/** MS-DTYP §2.3.4: a GUID, whose first three parts are little-endian; undefined for another length. */
export function guidText(bytes: Buffer): string | undefined {
  if (bytes.length !== 16) return undefined;
  const hex = (from: number, to: number) => bytes.subarray(from, to).toString('hex');
  const reversed = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).reverse().toString('hex');
  return [reversed(0, 4), reversed(4, 6), reversed(6, 8), hex(8, 10), hex(10, 16)].join('-');
}
