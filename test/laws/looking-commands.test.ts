import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../src/app/compose/compose.ts';
import type { CommandEffect, WithApplication } from '../../src/app/cli/application.ts';
import { newLogger } from '../../src/platform/observability/logger.ts';
import { cheapPasswords } from '../dsl/cheap-passwords.ts';
import { castellan } from '../dsl/command-line.ts';
import { newSite, type Site } from '../contexts/installation/installation.ts';
import type { FreshDatabase } from '../dsl/database.ts';
import { cli, leaves, wordsOf } from './command-line.ts';

/** Commands that only look: whoever runs one in the middle of a recovery changes nothing by it. */
const LOOKING = [
  'admin list',
  'audit export',
  'audit proof',
  'audit verify',
  'database roles',
  'doctor',
  'keys make',
  'license issue',
  'license show',
  'master-key status',
  'org list',
  'projections diff',
  'projections status',
  'restore status',
  'tenant list',
];
/** These open no application: they read settings, or look by a connection of their own. */
const WITHOUT_APPLICATION = ['database roles', 'doctor', 'keys make', 'license issue'];
/** Commands that show what they would do. */
const DRY_RUNS = [...leaves].filter(([, leaf]) => leaf.options.some(({ long }) => long === '--dry-run'));

describe('OP-596 commands that only look', () => {
  let site: Site;
  let database: FreshDatabase;
  let before: unknown;
  beforeAll(async () => {
    site = newSite();
    database = await site.newDatabase();
    const app = await site.start(database);
    await app.newTenant({ name: 'Acme' });
    await app.settled();
    await app.close();
    // Work is waiting for whoever does any: an event to fold, and heads to seal.
    await site.query(database, `update cursors set position = position - 3, leased_until = '-infinity'`);
    await site.query(database, 'delete from events where type = $$AuditHeadSealed$$');
    before = await written();
  });
  afterAll(() => site.clear());

  const run = async (words: readonly string[]) => {
    const effects: CommandEffect[] = [];
    const open: WithApplication = async (work, effect) => {
      effects.push(effect);
      const application = await compose(site.config, {
        database: database.config,
        log: newLogger('silent'),
        passwords: cheapPasswords(),
        listen: false,
        onlyLooks: effect === 'looks',
      });
      try {
        return await work(application);
      } finally {
        await application.stop();
      }
    };
    const ran = await castellan(words, {}, open);
    return { ...ran, effects };
  };

  /** Everything that a command could have written, but for statistics. */
  const written = async () => {
    const rows: Record<string, unknown> = {};
    const tables = (await site.rows(
      database,
      `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    )) as { name: string }[];
    for (const { name } of tables) rows[name] = await site.rows(database, `select t::text from ${name} t order by 1`);
    return rows;
  };

  it('are these', () => {
    expect([...leaves.keys()].filter((name) => cli.effects.get(leaves.get(name)!) === 'looks').toSorted()).toEqual(
      LOOKING,
    );
    expect([...cli.effects.keys()].length).toBe(leaves.size);
  });

  it.each(LOOKING.filter((name) => !WITHOUT_APPLICATION.includes(name)))('%s writes nothing', async (name) => {
    const { effects, code, stderr } = await run(wordsOf(leaves.get(name)!, given(name)));
    expect([effects, code, stderr]).toEqual([['looks'], expect.any(Number), expect.not.stringContaining('unexpected')]);
    expect(await written()).toEqual(before);
  });

  it.each(DRY_RUNS.map(([name]) => name))('%s --dry-run writes nothing', async (name) => {
    const { effects } = await run([...wordsOf(leaves.get(name)!, given(name)), '--dry-run']);
    expect(effects).toEqual(['looks']);
    expect(await written()).toEqual(before);
  });
});

const given = (name: string): Readonly<Record<string, string>> =>
  ['admin list', 'audit export', 'audit proof', 'person erase'].includes(name) ? { '--tenant': 'acme' } : {};
