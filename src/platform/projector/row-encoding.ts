import { writeUuid } from '../database/binary-arrays.ts';
import type { Column } from '../kernel/read-model.ts';
import type { KeyedRow } from './working-set.ts';
import type { TableShape } from './table.ts';

/** A value that its column cannot hold. Carries the SQLSTATE with which PostgreSQL would have refused it. */
export class Unencodable extends Error {
  readonly code = '22P02';

  constructor(column: string, sql: Column['sql'], cause?: unknown) {
    super(`the value of column ${column} is not a valid ${sql}`, { cause });
    this.name = 'Unencodable';
  }
}

/** `pg_type.oid`; these values never change. */
const OIDS = {
  uuid: 2950,
  text: 25,
  integer: 23,
  bigint: 20,
  'double precision': 701,
  boolean: 16,
  timestamptz: 1184,
  jsonb: 3802,
  date: 1082,
} as const;
/** PostgreSQL's epoch is 2000-01-01. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
const DAY_MS = 86_400_000;

interface Field {
  readonly name: string;
  readonly sql: Column['sql'];
  readonly oid: number;
}

/** The first column of every table. */
const TENANT: Field = { name: 'tenant_id', sql: 'uuid', oid: OIDS.uuid };

/**
 * Encodes rows of a table as one parameter in PostgreSQL's binary format: an array of the table's row type
 * (`array_recv`, `record_recv`). As JSON text, parsing took ten times as long as the insert.
 */
export class RowEncoding {
  readonly #fields: readonly Field[];
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #at = 0;

  constructor({ columns }: TableShape) {
    this.#fields = Object.entries(columns).map(([name, { sql }]) => ({ name, sql, oid: OIDS[sql] }));
  }

  /** `rowType` is the oid of the table's row type. Throws `Unencodable`. */
  encode(rows: readonly KeyedRow[], rowType: number): Buffer {
    this.#at = 0;
    this.#room(20);
    for (const word of [1, 0, rowType, rows.length, 1]) this.#word(word);
    for (const row of rows) this.#row(row);
    return Buffer.from(this.#bytes.subarray(0, this.#at));
  }

  #row({ key, row }: KeyedRow): void {
    // Reserves the headers of all fields and every value of fixed size. Texts reserve their own.
    this.#room(8 + (1 + this.#fields.length) * 24);
    const start = this.#at;
    this.#at += 4;
    this.#word(1 + this.#fields.length);
    this.#field(TENANT, key['tenant_id']);
    for (const field of this.#fields) this.#field(field, row[field.name]);
    this.#bytes.writeInt32BE(this.#at - start - 4, start);
  }

  #field({ name, sql, oid }: Field, value: unknown): void {
    this.#word(oid);
    const start = this.#at;
    if (value === null || value === undefined) return this.#word(-1);
    this.#at += 4;
    try {
      this.#value(sql, value);
    } catch (cause) {
      throw new Unencodable(name, sql, cause);
    }
    this.#bytes.writeInt32BE(this.#at - start - 4, start);
  }

  #value(sql: Column['sql'], value: unknown): void {
    switch (sql) {
      case 'uuid':
        return this.#uuid(value);
      case 'text':
        if (typeof value === 'object') throw new TypeError('not a text');
        return this.#text(String(value));
      case 'integer':
        return this.#word(whole(value));
      case 'bigint':
        return this.#long(BigInt(value as string));
      case 'double precision':
        this.#at = this.#bytes.writeDoubleBE(Number(value), this.#at);
        return;
      case 'boolean':
        if (typeof value !== 'boolean') throw new TypeError('not a boolean');
        return this.#byte(value ? 1 : 0);
      case 'timestamptz':
        return this.#microseconds(moment(value) - EPOCH_MS);
      case 'date':
        return this.#word((moment(value) - EPOCH_MS) / DAY_MS);
      case 'jsonb':
        this.#byte(1); // format version
        return this.#text(JSON.stringify(value));
    }
  }

  #uuid(value: unknown): void {
    if (typeof value !== 'string' || value.length !== 36) throw new TypeError('not a uuid');
    writeUuid(this.#bytes, value, this.#at);
    this.#at += 16;
  }

  #text(text: string): void {
    // A UTF-16 unit takes at most three bytes of UTF-8. Also reserve again for the fields after this one.
    this.#room(text.length * 3 + this.#fields.length * 24);
    this.#at += this.#bytes.write(text, this.#at);
  }

  #byte(value: number): void {
    this.#bytes[this.#at++] = value;
  }

  #word(value: number): void {
    this.#at = this.#bytes.writeInt32BE(value, this.#at);
  }

  #long(value: bigint): void {
    this.#at = this.#bytes.writeBigInt64BE(value, this.#at);
  }

  /**
   * Writes a 64-bit count in two halves. A double holds every such count of milliseconds exactly, and BigInt is slow.
   */
  #microseconds(milliseconds: number): void {
    const high = Math.floor((milliseconds * 1_000) / 2 ** 32);
    this.#word(high);
    this.#at = this.#bytes.writeUInt32BE(milliseconds * 1_000 - high * 2 ** 32, this.#at);
  }

  #room(size: number): void {
    if (this.#at + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#at + size));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

function whole(value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (!Number.isInteger(number)) throw new TypeError('not a whole number');
  return number as number;
}

function moment(value: unknown): number {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time)) throw new TypeError('not a time');
  return time;
}
