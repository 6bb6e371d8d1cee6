import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareDatabase } from '../../../src/app/compose/prepare-database.ts';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { openPools } from '../../../src/platform/database/access.ts';
import { openDatabase, type Database } from '../../../src/platform/database/database.ts';
import {
  asLogin,
  connectionOf,
  DATABASE_ROLES,
  roleGroupOf,
  loginsOf,
  verifierOf,
  type DatabaseRole,
} from '../../../src/platform/database/logins.ts';
import { startPasswordServer, USER_PASSWORD, type PasswordServer } from '../../dsl/password-server.ts';

const log = pino({ level: 'silent' });
const keys = () => ({ masterKey: randomBytes(32), otherMasterKey: undefined, auditKey: randomBytes(32) });
type Keys = Omit<ReturnType<typeof keys>, 'otherMasterKey'> & { readonly otherMasterKey: Buffer | undefined };
const [ACME, OTHER] = [randomUUID(), randomUUID()];

describe('a server that requires passwords', () => {
  let server: PasswordServer;
  const opened: Database[] = [];
  beforeAll(async () => {
    server = await startPasswordServer();
  });
  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await server.stop();
  });

  const ownerOf = new Map<string, string>();
  /** A database owned by the user who may create roles, or by another. */
  const give = async (name: string, owner = 'maker', rights = 'createrole') => {
    ownerOf.set(name, owner);
    if ((await server.admin('postgres', `select from pg_roles where rolname = '${owner}'`)).length === 0)
      await server.admin('postgres', `create role ${owner} login ${rights} password '${USER_PASSWORD}'`);
    await server.admin('postgres', `create database ${name} owner ${owner}`);
  };
  const start = async (name: string, its: Keys): Promise<Database> => {
    const prepared = await prepareDatabase(connectionOf(server.url(ownerOf.get(name)!, name)), its);
    const database = openDatabase(prepared.config, log, { store: 1, service: 1, projector: 1, reads: 1 });
    opened.push(database);
    await openPools(database, prepared.wanted);
    return database;
  };
  const refusal = async (starting: Promise<unknown>): Promise<string> => {
    const error = await starting.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  };
  const scriptIn = (message: string): string => message.slice(message.indexOf('-- Castellan'));

  it('lets several processes start at once in an empty database', async () => {
    await give('together');
    const its = keys();
    const databases = await Promise.all([start('together', its), start('together', its), start('together', its)]);
    for (const { reads } of databases)
      expect((await reads.query('select session_user as login')).rows).toEqual([{ login: 'castellan_reads_together' }]);
  });

  it('never lets the server compile its statements, which takes longer than running them', async () => {
    await give('uncompiled');
    await server.admin('postgres', 'alter database uncompiled set jit = on');
    const { pools } = await start('uncompiled', keys());
    for (const [name, pool] of Object.entries(pools))
      expect((await pool.query('show jit')).rows, name).toEqual([{ jit: 'off' }]);
  });

  describe('a session of the service', () => {
    let database: Database;
    beforeAll(async () => {
      await give('contained');
      database = await start('contained', keys());
      await server.admin(
        'contained',
        `insert into events (position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data)
           select n, case n when 1 then '${ACME}'::uuid else '${OTHER}'::uuid end, 'a-' || n, 0, gen_random_uuid(), 'T', 1, now(), '{}', '{}' from generate_series(1, 2) n;
         insert into secrets (tenant_id, id, owner, field, sealed) values ('${OTHER}', gen_random_uuid(), 'x', 'y', '\\x00');
         create table seen (tenant_id uuid not null);
         alter table seen enable row level security;
         create policy tenant on seen for select to castellan_reads using (tenant_id = castellan_tenant());
         grant select on seen to castellan_reads;
         insert into seen values ('${ACME}'), ('${OTHER}')`,
      );
    });

    const ESCAPES: [string, string][] = [
      ['takes its role off', `select set_config('role', 'none', false)`],
      ['sets no role', 'set role none'],
      ['resets its role', 'reset role'],
      ['becomes the owner', 'set role maker'],
      ['becomes the superuser', 'set role postgres'],
      ['becomes the projector', `select set_config('role', 'castellan_projector', false)`],
      ['becomes the store', 'set role castellan_store'],
      ['becomes the login of the store', 'set role castellan_store_contained'],
      ['takes off its session', 'set session authorization default'],
      ['opens a session as the owner', 'set session authorization maker'],
      ['resets everything', 'reset all'],
      ['discards everything', 'discard all'],
      ['turns row-level security off', 'set row_security = off'],
    ];
    /**
     * Runs an escape on the pool's only connection, then each statement of an attacker; the connection is then
     * discarded.
     */
    const after = async (
      role: DatabaseRole,
      escape: string,
      wanted: readonly string[],
    ): Promise<[string, unknown][]> => {
      const client = await database.pools[role].connect();
      const outcomes: [string, unknown][] = [];
      try {
        await client.query(`select set_config('castellan.tenant', $1, false)`, [ACME]);
        await client.query(escape).catch(() => undefined);
        // Reading sessions are read-only by a setting that every session may change.
        await client.query('set default_transaction_read_only = off');
        for (const sql of wanted)
          outcomes.push([
            sql,
            await client.query(sql).then(
              ({ rowCount }) => rowCount,
              (error: { code?: string }) => error.code,
            ),
          ]);
        return outcomes;
      } finally {
        client.release(true);
      }
    };
    const CHANGES = [
      `update events set data = '{}'`,
      'delete from events',
      'truncate events',
      'drop table events',
      'alter table events disable row level security',
      'alter table secrets owner to current_user',
    ];
    const ofOther = (table: string) => `select tenant_id from ${table} where tenant_id = '${OTHER}'`;
    const everyEscape = DATABASE_ROLES.flatMap((role) =>
      ESCAPES.map(([what, sql]): [DatabaseRole, string, string] => [role, what, sql]),
    );

    it.each(everyEscape)(
      'as %s, when an injected statement %s, changes no event and reads no secret of another tenant',
      async (role, _, escape) => {
        const reads =
          role === 'service' || role === 'reads'
            ? [ofOther('events'), ofOther('secrets'), ofOther('seen')]
            : [ofOther('secrets')];
        // 42501: insufficient privilege; 0: row-level security hides every row.
        const outcomes = await after(role, escape, [...CHANGES, ...reads]);
        expect(outcomes.filter(([, outcome]) => outcome !== '42501' && outcome !== 0)).toEqual([]);
        expect(outcomes).toHaveLength(CHANGES.length + reads.length);
      },
    );

    it('logs in under its own name and takes the role that it works as', async () => {
      for (const role of DATABASE_ROLES) {
        const { rows } = await database.pools[role].query('select session_user as login, current_user as acting');
        expect(rows).toEqual([{ login: `castellan_${role}_contained`, acting: roleGroupOf(role) }]);
      }
    });

    it('is refused without its password', async () => {
      const client = new pg.Client({
        host: server.host,
        port: server.port,
        database: 'contained',
        user: 'castellan_service_contained',
        password: 'guess',
      });
      await expect(client.connect()).rejects.toMatchObject({ code: '28P01' });
    });

    it('belongs to a role that may log in and nothing else', async () => {
      const rows = await server.admin(
        'contained',
        `select rolname, rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication or rolinherit as mighty, array(select r.rolname::text from pg_auth_members m join pg_roles r on r.oid = m.roleid where m.member = l.oid) as groups
           from pg_roles l where rolname like 'castellan\\_%\\_contained' order by 1`,
      );
      expect(rows).toEqual(
        ['projector', 'reads', 'service', 'store'].map((role) => ({
          rolname: `castellan_${role}_contained`,
          mighty: false,
          groups: [`castellan_${role}`],
        })),
      );
    });
  });

  it('keeps the passwords when the master key is replaced', async () => {
    await give('rotated');
    const before = keys();
    await start('rotated', before);
    const passwords = await server.admin(
      'rotated',
      `select rolpassword from pg_authid where rolname like '%_rotated' order by rolname`,
    );
    const database = await start('rotated', {
      ...before,
      masterKey: randomBytes(32),
      otherMasterKey: before.masterKey,
    });
    expect((await database.reads.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    expect(
      await server.admin(
        'rotated',
        `select rolpassword from pg_authid where rolname like '%_rotated' order by rolname`,
      ),
    ).toEqual(passwords);
  });

  it('restores passwords and rights of roles that were changed', async () => {
    await give('changed');
    const its = keys();
    await start('changed', its);
    await server.admin(
      'changed',
      `alter role castellan_reads_changed password 'other'; alter role castellan_service_changed bypassrls inherit; grant pg_monitor to castellan_store_changed; revoke create on database changed from castellan_projector`,
    );
    // Only a superuser can revoke what a superuser granted.
    const message = await refusal(start('changed', its));
    await server.admin('changed', scriptIn(message));
    const database = await start('changed', its);
    expect((await database.projector.query(`select has_database_privilege('changed', 'create') as may`)).rows).toEqual([
      { may: true },
    ]);
    expect(
      await server.admin('changed', `select rolbypassrls from pg_roles where rolname = 'castellan_service_changed'`),
    ).toEqual([{ rolbypassrls: false }]);
  });

  describe('if the owner of the database may not create roles', () => {
    it('says so with the SQL that an administrator must run, and starts afterwards', async () => {
      await give('prepared', 'prepared_owner', 'nocreaterole');
      const its = keys();
      const message = await refusal(start('prepared', its));
      expect(message.split('\n')[0]).toMatch(
        /^the database user prepared_owner is not allowed to create the roles .* have an administrator of the server run this SQL in database prepared/,
      );
      expect(await server.admin('prepared', `select relname from pg_class where relname = 'events'`)).toEqual([]);
      for (const { password } of Object.values(loginsOf('prepared', Buffer.alloc(32))))
        expect(message).not.toContain(password!);
      await server.admin('prepared', scriptIn(message));
      const database = await start('prepared', its);
      expect(await database.service.asSystem('select session_user as login')).toEqual([
        { login: 'castellan_service_prepared' },
      ]);
      // The next start needs nothing.
      await start('prepared', its);
    });

    it('refuses a key whose passwords the roles do not have, with the SQL that sets them', async () => {
      await give('mistaken', 'mistaken_owner', 'nocreaterole');
      await server.admin('mistaken', scriptIn(await refusal(start('mistaken', keys()))));
      const its = keys();
      const message = await refusal(start('mistaken', its));
      expect(message).toMatch(/password/);
      await server.admin('mistaken', scriptIn(message));
      await start('mistaken', its);
    });
  });

  it('keeps two installations of one cluster separate', async () => {
    await give('one');
    await give('two', 'stranger');
    const [first, second] = [keys(), keys()];
    const one = await start('one', first);
    // The first owner owns the groups, and the second one may not grant them.
    const message = await refusal(start('two', second));
    expect(message.split('\n')[0]).toMatch(
      /^the database user stranger is not allowed to create the roles .*permission denied to grant role/,
    );
    await server.admin('two', scriptIn(message));
    const two = await start('two', second);
    for (const database of [one, two])
      expect((await database.store.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    const intruder = new pg.Client(
      asLogin({ host: server.host, port: server.port, database: 'two', logins: one.config.logins }, 'reads'),
    );
    await expect(intruder.connect()).rejects.toMatchObject({ code: '42501' });
  });
});

describe('the login roles of a database', () => {
  it('have names that differ between databases and that PostgreSQL does not truncate', () => {
    const names = [
      'castellan',
      'Castellan',
      'castellan-2',
      'castellan_2',
      'x'.repeat(63),
      `${'x'.repeat(62)}y`,
    ].flatMap((database) => Object.values(loginsOf(database)).map(({ user }) => user));
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9_]{1,63}$/);
    expect(loginsOf('castellan').service.user).toBe('castellan_service_castellan');
  });

  it('have individual passwords, which their verifiers do not reveal', () => {
    const passwords = Object.values(loginsOf('castellan', randomBytes(32))).map(({ password }) => password!);
    expect(new Set(passwords).size).toBe(4);
    for (const password of passwords)
      expect(verifierOf(password)).toMatch(/^SCRAM-SHA-256\$4096:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+$/);
  });

  it.each([
    'postgres://u:p@h/db',
    'postgresql://u:p@/db?host=%2Ftmp&port=5',
    'postgres://u@h:1/db?sslmode=verify-full&user=z',
  ])('replace the user in %s', (url) => {
    const { connectionString } = asLogin({ ...connectionOf(url), logins: loginsOf('db', Buffer.alloc(32)) }, 'reads');
    const client = new pg.Client({ connectionString });
    expect([client.user, client.database, client.password]).toEqual([
      'castellan_reads_db',
      'db',
      loginsOf('db', Buffer.alloc(32)).reads.password,
    ]);
  });

  it.each(['allow', 'prefer', 'require', 'verify-ca', 'verify-full'])(
    'check the certificate with sslmode=%s',
    (mode) => {
      const { connectionString } = connectionOf(`postgres://u@h/db?sslmode=${mode}`);
      const { ssl } = new pg.Client({ connectionString });
      expect(ssl).toEqual({});
    },
  );

  it('leave the meaning of libpq to whoever asks for it', () => {
    const url = 'postgres://u@h/db?sslmode=require&uselibpqcompat=true';
    expect(connectionOf(url)).toEqual({ connectionString: url });
  });

  it('keep the parameters of a URL', () => {
    expect(
      asLogin(connectionOf('postgres://u:p@h/db?options=-c%20work_mem%3D1MB&sslmode=disable'), 'reads', '-c a.b=c'),
    ).toMatchObject({
      connectionString: expect.not.stringContaining('options'),
      options: '-c work_mem=1MB -c role=castellan_reads -c a.b=c',
    });
  });
});
