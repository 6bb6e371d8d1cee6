import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditLog } from '../../../projections/audit/audit-log.ts';
import { readModels } from '../../../projections/index.ts';
import { compose } from '../../../src/app/compose/compose.ts';
import type { Config } from '../../../src/app/config/config.ts';
import { examine } from '../../../src/app/operations/doctor.ts';
import { families } from '../../../src/contexts/families.ts';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { appOf } from '../../dsl/app.ts';
import { configsOn } from '../../dsl/installation-config.ts';
import { USER_PASSWORD } from '../../dsl/password-server.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { startSystemPostgres, type SystemPostgres } from '../../dsl/system-postgres.ts';
import { findSystemPostgres } from '../../dsl/system-program.ts';

const OWNER = 'castellan_owner';
/** Places at which the rights of the dump are cut. */
const CUTS = 4;

/** Every right, owner, policy and view of read models, in words. */
const STANDING = `
  select format('%s %s %s owner %s', c.relnamespace::regnamespace, c.relkind, c.relname, c.relowner::regrole) as it
    from pg_class c where c.relnamespace = any(array['public', 'jobs']::regnamespace[]) and c.relkind in ('r', 'v', 'S')
  union all
  select format('%s %s: %s to %s', c.relnamespace::regnamespace, c.relname, a.privilege_type, a.grantee::regrole)
    from pg_class c, aclexplode(c.relacl) a where c.relnamespace = any(array['public', 'jobs']::regnamespace[]) and a.grantee <> c.relowner
  union all
  select format('function %s: %s', p.oid::regprocedure, a.grantee::regrole)
    from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where p.pronamespace = 'public'::regnamespace and a.grantee <> p.proowner
  union all
  select format('schema %s: %s to %s', n.nspname, a.privilege_type, a.grantee::regrole)
    from pg_namespace n, aclexplode(n.nspacl) a where n.nspname in ('public', 'jobs') and a.grantee <> n.nspowner
  union all
  select format('policy %s of %s for %s: %s, %s', policyname, tablename, roles, qual, with_check) from pg_policies where schemaname = 'public'
  union all
  select format('options of %s: %s', c.relname, c.reloptions) from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'v'
  union all
  select format('view %s: %s', viewname, definition) from pg_views where schemaname = 'public' and viewname in (select name from cursors)
  order by 1`;

describe.skipIf(!findSystemPostgres())('a database that lost', () => {
  const folder = scratchFolder('lost-parts');
  let cluster: SystemPostgres;
  let dump: string[];
  let standing: Record<string, unknown>[];
  let config: (database: string) => Config;
  beforeAll(async () => {
    cluster = await startSystemPostgres();
    await cluster.admin('postgres', `create role ${OWNER} login createrole password '${USER_PASSWORD}'`);
    config = configsOn(cluster, OWNER, folder);
    await cluster.admin('postgres', `create database whole owner ${OWNER}`);
    const application = await composed('whole');
    await appOf(application).newTenant();
    await application.stop();
    standing = await cluster.admin('whole', STANDING);
    dump = cluster.dump('whole').split('\n');
  }, 120_000);
  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const composed = (database: string) => compose(config(database), { listen: false, log: newLogger('silent') });

  const opened = async (database: string) => (await composed(database)).stop();

  /** As an administrator restores it. */
  const restored = async (name: string, lines: readonly string[] = dump, before = ''): Promise<string> => {
    await cluster.admin('postgres', `create database ${name} owner ${OWNER}`);
    if (before !== '') await cluster.admin(name, before);
    cluster.restore(name, `${lines.join('\n')}\n`);
    return name;
  };

  const findings = async (database: string): Promise<string[]> =>
    (await examine(config(database), { master: true, audit: true }))
      .filter(({ check, verdict }) => check === 'tables' && verdict !== 'fine')
      .map(({ message }) => message);

  /** What a start might write. */
  const contents = (database: string): string =>
    cluster
      .dump(database)
      .split('\n')
      .filter((line) => !/^\\(un)?restrict/.test(line))
      .join('\n');

  const isRight = (line: string) => /^(GRANT|REVOKE) /.test(line);

  it.each([
    ['every right', () => dump.filter((line) => !isRight(line))],
    ...Array.from({ length: CUTS }, (_, n): [string, () => string[]] => [
      `rights in part (cut ${n})`,
      () => {
        const first = dump.findIndex(isRight);
        return dump.slice(0, first + Math.floor(((dump.length - first) * (n + 0.1)) / CUTS));
      },
    ]),
    [
      'the rights and policies of read models',
      () => dump.filter((line) => !/^(GRANT|CREATE POLICY tenant) .*(_v\d+|alerts)\b/.test(line)),
    ],
  ] as const)('%s: doctor says so, and a start gives them again', { timeout: 120_000 }, async (what, lines) => {
    const name = await restored(what.replaceAll(/\W/g, '_'), lines());
    const rights = (await cluster.admin(name, STANDING)).length;
    expect(rights).toBeLessThan(standing.length);
    const found = await findings(name);
    expect(found).toEqual([expect.stringMatching(/^\d+ grants, policies, owners and views are missing or differ/)]);
    await opened(name);
    expect(await cluster.admin(name, STANDING)).toEqual(standing);
    expect(await findings(name)).toEqual([]);
  });

  it('views of read models: doctor names them, and a start makes them again', { timeout: 120_000 }, async () => {
    const name = await restored('views');
    await cluster.admin(name, 'drop view tenants; drop view alerts');
    expect(await findings(name)).toEqual([expect.stringMatching(/view alerts, view tenants/)]);
    await Promise.all([opened(name), opened(name)]);
    expect(await cluster.admin(name, STANDING)).toEqual(standing);
    expect(await findings(name)).toEqual([]);
  });

  it.each([
    [
      'the conditions of its policies',
      `do $$ declare p record; begin for p in select * from pg_policies where schemaname = 'public' and qual is not null loop
         execute format('alter policy %I on public.%I using (true)', p.policyname, p.tablename); end loop; end $$`,
    ],
    [
      'what keeps tenants apart behind views',
      `do $$ declare v record; begin for v in select viewname from pg_views where schemaname = 'public' and viewname in (select name from cursors) loop
         execute format('alter view public.%I reset (security_invoker)', v.viewname); end loop; end $$`,
    ],
    [
      'every right of its roles, of owners, too',
      'revoke all on all tables in schema public from castellan_store, castellan_service, castellan_projector, castellan_reads',
    ],
  ])('%s: doctor says so, and a start gives them again', { timeout: 120_000 }, async (what, loss) => {
    const name = await restored(what.replaceAll(/\W/g, '_'));
    await cluster.admin(name, loss);
    expect(await cluster.admin(name, STANDING)).not.toEqual(standing);
    expect(await findings(name)).toEqual([
      expect.stringMatching(/^\d+ grants, policies, owners and views are missing or differ/),
    ]);
    await opened(name);
    expect(await cluster.admin(name, STANDING)).toEqual(standing);
    expect(await findings(name)).toEqual([]);
  });

  it('the state of a reaction is refused with its name, and not written to', { timeout: 120_000 }, async () => {
    const name = await restored('stateless');
    const [{ table } = {}] = await cluster.admin(
      name,
      "select relname as table from pg_class where relname like 'alert_detection_state_v%' and relkind = 'r'",
    );
    await cluster.admin(name, `drop table public.${String(table)} cascade`);
    const before = contents(name);
    await expect(opened(name)).rejects.toThrow(`it lacks 1 of its parts (table ${String(table)})`);
    expect(await findings(name)).toEqual([expect.stringContaining(`(table ${String(table)})`)]);
    expect(contents(name)).toEqual(before);
  });

  it('nothing, on a server where nobody executes functions without a right, works', { timeout: 120_000 }, async () => {
    await cluster.admin('postgres', `create database strict owner ${OWNER}`);
    await cluster.admin('strict', `alter default privileges for role ${OWNER} revoke execute on functions from public`);
    for (const name of [
      'strict',
      await restored(
        'strict_too',
        dump,
        `alter default privileges for role ${OWNER} revoke execute on functions from public;
      alter default privileges for role postgres revoke execute on functions from public`,
      ),
    ]) {
      const application = await composed(name);
      await appOf(application).newTenant();
      await appOf(application).settled();
      await application.stop();
      expect(await findings(name)).toEqual([]);
    }
  });

  it('the schema of jobs: a start makes it again', { timeout: 120_000 }, async () => {
    const name = await restored('jobless');
    await cluster.admin(name, 'drop schema jobs cascade');
    expect(await findings(name)).toEqual([]);
    await opened(name);
    expect(await cluster.admin(name, STANDING)).toEqual(standing);
  });

  it('nothing has a view of every read model', async () => {
    const models = [...readModels, auditLog(randomBytes(32), families)].map(({ name }) => name);
    const views = await cluster.admin('whole', "select viewname from pg_views where schemaname = 'public'");
    expect(views.map(({ viewname }) => viewname)).toEqual(expect.arrayContaining(models));
  });

  it.each([
    'claims',
    'cursors',
    'jobs.migration',
    'kept_keys',
    'log_watch',
    'master_keys',
    'migrations.kysely_migration',
    'person_keys',
    'secrets',
    'tenant_keys',
  ])('the rows of %s is refused with a sentence, found by doctor, and not written to', async (table) => {
    const name = await restored(`no_${table.replaceAll('.', '_')}`);
    await cluster.admin(name, `set session_replication_role = replica; delete from ${table}`);
    const before = contents(name);
    const refusal = await opened(name).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    expect((refusal as Error).message).toContain(
      `this database is not whole: it lacks 1 of its parts (rows of ${table})`,
    );
    expect(await findings(name)).toEqual([(refusal as Error).message]);
    expect(contents(name)).toEqual(before);
  });

  it('the keys of persons is refused although somebody was erased, and whole if nobody is left to have one', async () => {
    const name = await restored('erased');
    await cluster.admin(
      name,
      'insert into erased_persons select tenant_id, gen_random_uuid() from tenant_keys; delete from person_keys',
    );
    await expect(opened(name)).rejects.toThrow(/rows of person_keys/);
    await cluster.admin(
      name,
      `insert into erased_persons select tenant_id, (data->>'adminId')::uuid from events where type = 'AdminUserCreated'`,
    );
    expect(await findings(name)).toEqual([]);
  });

  it('its rights and the record of them is refused with a sentence, and found by doctor', async () => {
    const name = await restored(
      'unrecorded',
      dump.filter((line) => !isRight(line)),
    );
    await cluster.admin(name, 'delete from kept_rights');
    await expect(opened(name)).rejects.toThrow(/lacks 1 of its parts \(rows of kept_rights\)/);
    expect(await findings(name)).toEqual([expect.stringContaining('(rows of kept_rights)')]);
  });

  it('row security of a read model is refused before anything is written', async () => {
    const name = await restored(
      'no_model',
      dump.filter((line) => !/^ALTER TABLE public\.alerts_v\d+ ENABLE/.test(line)),
    );
    const before = contents(name);
    await expect(opened(name)).rejects.toThrow(/row security of alerts_v/);
    expect(contents(name)).toEqual(before);
  });

  it('nothing, and has rows, tables and views of other products besides, is whole', async () => {
    const name = await restored('shared');
    await cluster.admin(
      name,
      `create table public.other_v1 (id int primary key); create view public.others as select * from public.other_v1;
       create schema other; create table other.cursors (id int); create index on events (tenant_id); grant select on events to postgres`,
    );
    expect(await findings(name)).toEqual([]);
    await opened(name);
  });

  it('nothing, before it had its first tenant, is whole', async () => {
    await cluster.admin('postgres', `create database young owner ${OWNER}`);
    await opened('young');
    expect(await findings('young')).toEqual([]);
    await opened('young');
  });
});
