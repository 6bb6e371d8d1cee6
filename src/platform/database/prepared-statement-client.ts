import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { SilenceWatchdog } from './silence-watchdog.ts';
import { DatabaseTimeout } from './unavailable.ts';

/**
 * The parts of the driver used here beyond its documented API.
 * `test/platform/database/prepared-statement-client.test.ts` fails if they change.
 */
interface Connection {
  readonly parsedStatements: Readonly<Record<string, string>>;
  describe(what: unknown): void;
}
interface DriverQuery extends pg.Submittable {
  name?: string;
  prepare(connection: Connection): void;
  handleRowDescription(message: { fields: readonly pg.FieldDef[] }): void;
  handleDataRow(message: { fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
}
type Done = (error: Error | null, result: pg.QueryResult) => void;
const Query = pg.Query as unknown as new (text: string, values: unknown[] | undefined, done: Done) => DriverQuery;

type Row = Record<string, unknown>;
type Parse = (text: string) => unknown;

/** Converts the rows of one prepared statement. */
class Layout {
  readonly #columns: readonly { readonly name: string; readonly parse: Parse }[];
  readonly #blank: Row;

  constructor(fields: readonly pg.FieldDef[], parserOf: (oid: number) => Parse) {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
    this.#blank = Object.fromEntries(fields.map(({ name }) => [name, null]));
  }

  row(values: readonly (string | null)[]): Row {
    const row = { ...this.#blank };
    for (const [index, { name, parse }] of this.#columns.entries()) {
      const value = values[index];
      if (value !== null) row[name] = parse(value!);
    }
    return row;
  }
}

/** Keyed by `parsedStatements`, so replacing that object also drops cached layouts. */
const layouts = new WeakMap<object, Map<string, Layout>>();

function layoutsOf({ parsedStatements }: Connection): Map<string, Layout> {
  let known = layouts.get(parsedStatements);
  if (!known) layouts.set(parsedStatements, (known = new Map()));
  return known;
}

/** The same connection, but it sends no Describe message. */
const silent = new WeakMap<Connection, Connection>();

function withoutDescribing(connection: Connection): Connection {
  let quiet = silent.get(connection);
  if (!quiet) {
    quiet = Object.create(connection, { describe: { value: () => undefined } }) as Connection;
    silent.set(connection, quiet);
  }
  return quiet;
}

/**
 * Gain: `npm run bench -- without lean-client read-32`: 1.11 (95 %: 1.05 to 1.16).
 *
 * A prepared statement whose rows are described once per connection, not with every result: describing a row of forty
 * columns, and preparing to parse it, took longer than reading it. If the columns have changed, the database refuses
 * the statement (0A000).
 */
class LeanQuery extends Query {
  readonly rowsRead: Row[] = [];
  readonly #parserOf: (oid: number) => Parse;
  #known: Map<string, Layout> | undefined;
  #layout: Layout | undefined;
  /** The error of a row that could not be parsed. The statement still runs to its end, because other results follow. */
  #unread: Error | undefined;

  constructor({ name, text, values }: pg.QueryConfig & { name: string }, parserOf: (oid: number) => Parse, done: Done) {
    // Separate arguments: the driver would copy an object with all its property descriptors.
    super(text, values, (error, result) => {
      if (error ?? this.#unread) return done(error ?? this.#unread!, result);
      result.rows = this.rowsRead;
      done(null, result);
    });
    this.name = name;
    this.#parserOf = parserOf;
  }

  override prepare(connection: Connection): void {
    this.#known = layoutsOf(connection);
    this.#layout = this.#known.get(this.name!);
    super.prepare(this.#layout ? withoutDescribing(connection) : connection);
  }

  override handleRowDescription({ fields }: { fields: readonly pg.FieldDef[] }): void {
    this.#layout = new Layout(fields, this.#parserOf);
  }

  override handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      this.rowsRead.push(this.#layout!.row(fields));
    } catch (error) {
      this.#unread ??= error as Error;
    }
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    // Also for a statement without rows: it was described as such.
    this.#known!.set(this.name!, (this.#layout ??= new Layout([], this.#parserOf)));
    super.handleCommandComplete(message, connection);
  }
}

const isNamed = (asked: unknown): asked is pg.QueryConfig & { name: string } =>
  typeof asked === 'object' &&
  asked !== null &&
  typeof (asked as pg.QueryConfig).name === 'string' &&
  !('submit' in asked) &&
  !('rowMode' in asked) &&
  !('types' in asked);

export interface PreparedStatementClientConfig extends pg.ClientConfig {
  /**
   * If the server sends nothing for this long while a result is awaited, the connection is closed
   * (`DatabaseTimeout`). 0: never.
   */
  readonly silenceMillis?: number;
}

/** A client that describes prepared statements once, and closes a connection whose server is silent. */
export class PreparedStatementClient extends pg.Client {
  readonly #watchdog: SilenceWatchdog;

  constructor(config?: PreparedStatementClientConfig) {
    super(config);
    const { connection } = this as unknown as {
      connection: EventEmitter & { stream: { destroy(error: Error): void } };
    };
    // The driver treats this as a lost connection: it fails every statement on it with this error.
    this.#watchdog = new SilenceWatchdog(config?.silenceMillis ?? 0, (after) =>
      connection.stream.destroy(new DatabaseTimeout(after)),
    );
    connection.on('readyForQuery', () => this.#watchdog.heard());
    this.on('drain', () => this.#watchdog.answered());
    this.on('end', () => this.#watchdog.over());
  }

  /** Applies to later statements; undefined restores the configured limit. */
  allowSilence(milliseconds: number | undefined): void {
    this.#watchdog.allow(milliseconds);
  }

  // Its overloads are those of the driver's client.
  override query = ((asked: unknown, values?: unknown, done?: Done): unknown => {
    this.#watchdog.asked();
    if (!isNamed(asked) || values !== undefined)
      return (super.query as (...given: unknown[]) => unknown)(asked, values, done);
    if (done) return super.query(this.#lean(asked, done) as never);
    const answered = new Promise((resolve, reject) => {
      super.query(this.#lean(asked, (error, result) => (error ? reject(error) : resolve(result))) as never);
    });
    // As the driver does: the stack should lead to the caller, not to the socket.
    return answered.catch((error: Error) => {
      Error.captureStackTrace(error);
      throw error;
    });
  }) as pg.Client['query'];

  #lean(config: pg.QueryConfig & { name: string }, done: Done): DriverQuery {
    return new LeanQuery(config, (oid) => this.getTypeParser(oid, 'text') as Parse, done);
  }
}
