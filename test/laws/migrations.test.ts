import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Kysely, Migrator, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/platform/config-error.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { whatIsMissing } from '../../src/platform/database/parts.ts';
import { migrationSteps } from '../../src/platform/database/migration-steps.ts';
import { freshDatabase, type FreshDatabase } from '../dsl/database.ts';
import { scratchFolder } from '../dsl/scratch.ts';
import { schemaInWords } from '../dsl/schema-in-words.ts';

/** The migrations that the base replaced, as a database of that time ran them. */
const FIRST = new URL('../fixtures/migrations-001-to-014/', import.meta.url);
const firstNames = readdirSync(FIRST).sort();
const steps = await migrationSteps();
const allNames = Object.keys(steps).sort();
const newest = allNames.at(-1)!;

const databases: FreshDatabase[] = [];
afterAll(() => Promise.all(databases.map((database) => database.drop())));

async function emptyDatabase(): Promise<FreshDatabase> {
  const database = await freshDatabase({ empty: true });
  databases.push(database);
  return database;
}

type Steps = Awaited<ReturnType<typeof migrationSteps>>;

async function run({ config }: FreshDatabase, wanted: Steps, target: string): Promise<void> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ ...config, max: 1 }) }) });
  const provider = { getMigrations: () => Promise.resolve(wanted) };
  const { error } = await new Migrator({ db, provider, migrationTableSchema: 'migrations' }).migrateTo(target);
  await db.destroy();
  if (error) throw error;
}

const first: Steps = Object.fromEntries(
  firstNames.map((name) => {
    const text = readFileSync(new URL(name, FIRST), 'utf8');
    return [name, { up: async (db) => void (await sql.raw(text).execute(db)) }];
  }),
);

/** A database at the version whose newest migration was `newest`. */
async function databaseAt(newest: string): Promise<FreshDatabase> {
  const database = await emptyDatabase();
  await run(database, { ...steps, ...first }, newest);
  return database;
}

async function using<T>({ config }: FreshDatabase, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(config);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The grants of the logins contain the name of the database. */
const schemaOf = (database: FreshDatabase): Promise<string[]> =>
  using(database, async (client) =>
    (await schemaInWords(client)).map((line) => line.replaceAll(database.name, '<database>')),
  );

const namesIn = (database: FreshDatabase): Promise<string[]> =>
  using(database, async (client) => {
    const { rows } = await client.query<{ name: string }>('select name from migrations.kysely_migration order by name');
    return rows.map(({ name }) => name);
  });

describe('the schema of a new database', async () => {
  const created = await emptyDatabase();
  // Processes of a new installation that start together.
  await Promise.all([migrate(created.config), migrate(created.config), migrate(created.config)]);
  const schema = await schemaOf(created);

  it('records every migration, like an upgraded database', async () => {
    expect(await namesIn(created)).toEqual(allNames);
    expect(allNames.slice(0, firstNames.length)).toEqual(firstNames);
  });

  it('is compared down to columns, function bodies, policies and grants', () => {
    expect(schema).toContainEqual(expect.stringMatching(/^column claims 3 digest bytea not null t /));
    expect(schema).toContainEqual(expect.stringMatching(/^function append_events\(.* body .*pg_advisory_xact_lock/));
    expect(schema).toContainEqual(expect.stringMatching(/^policy public events tenant .*castellan_tenant/));
    expect(schema).toContainEqual(expect.stringMatching(/^relation stream_retention .*castellan_store=arw/));
    expect(schema).toContainEqual(expect.stringMatching(/^row of kept_rights: /));
  });

  it.each(allNames.slice(firstNames.length - 1, -1))(
    'equals the schema of a database upgraded from %s',
    async (name) => {
      const upgraded = await databaseAt(name);
      await migrate(upgraded.config);
      expect(await schemaOf(upgraded)).toEqual(schema);
    },
  );
});

describe('a migration after the base', async () => {
  const folder = scratchFolder('migrations');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(new URL('../../src/platform/database/migrations/', import.meta.url), folder, { recursive: true });
  const LATER = '999_later.sql';
  writeFileSync(join(folder, LATER), 'create table later (id integer)');
  const withLater = () => migrationSteps(pathToFileURL(`${folder}/`));

  it.each(['a new database', 'a database at the newest upgrade'])('runs on %s', async (which) => {
    const database = which === 'a new database' ? await emptyDatabase() : await databaseAt(newest);
    await run(database, await withLater(), LATER);
    expect(await namesIn(database)).toEqual([...allNames, LATER]);
    const schema = await schemaOf(database);
    expect(schema).toContainEqual(expect.stringMatching(/^column later 1 id integer/));
    expect(schema).toContainEqual('row of kept_parts: {"part":"table later"}');
  });
});

describe('a process that starts while another one migrates', () => {
  it('does not take the database for one that was restored in part', async () => {
    const database = await databaseAt('054_in_time.sql');
    const pool = new pg.Pool({ ...database.config, max: 1 });
    let isFirst = true;
    const looking = {
      query: async (...given: [string]) => {
        const seen = await pool.query(...given);
        if (isFirst) await migrate(database.config);
        isFirst = false;
        return seen;
      },
    } as unknown as pg.Pool;
    expect(await whatIsMissing(looking).finally(() => pool.end())).toBeUndefined();
  });
});

describe('a database from before 014', () => {
  it.each([firstNames[0]!, firstNames.at(-2)!])('is refused at %s with a message, and left unchanged', async (name) => {
    const old = await databaseAt(name);
    const before = await schemaOf(old);
    const missing = firstNames[firstNames.indexOf(name) + 1]!;
    const refusal = await migrate(old.config).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(ConfigError);
    expect((refusal as Error).message).toMatch(
      new RegExp(`^this database lacks migration ${missing}, .* have 014_master_keys.sql: .* start this version$`),
    );
    // Logins are created before migrations run, and may connect; nothing inside the database has changed.
    const withoutConnecting = (lines: string[]) => lines.filter((line) => !line.startsWith('database rights'));
    expect(withoutConnecting(await schemaOf(old))).toEqual(withoutConnecting(before));
  });
});
