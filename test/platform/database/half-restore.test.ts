import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../../src/app/compose/compose.ts';
import type { Config } from '../../../src/app/config/config.ts';
import { examine } from '../../../src/app/operations/doctor.ts';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { configsOn } from '../../dsl/installation-config.ts';
import { USER_PASSWORD } from '../../dsl/password-server.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { startSystemPostgres, type SystemPostgres } from '../../dsl/system-postgres.ts';
import { findSystemPostgres } from '../../dsl/system-program.ts';

const OWNER = 'castellan_owner';
/** Places at which the dump is cut, from its first table to its last policy. */
const CUTS = 12;
const NOT_WHOLE = /^this database is not whole: /;

describe.skipIf(!findSystemPostgres())('a dump that was restored in part', () => {
  const folder = scratchFolder('half-restore');
  let cluster: SystemPostgres;
  let dump: string[];
  let config: (database: string) => Config;
  beforeAll(async () => {
    cluster = await startSystemPostgres();
    await cluster.admin('postgres', `create role ${OWNER} login superuser password '${USER_PASSWORD}'`);
    config = configsOn(cluster, OWNER, folder);
    await cluster.admin('postgres', `create database whole owner ${OWNER}`);
    await opened('whole');
    dump = cluster.dump('whole').split('\n');
  }, 120_000);
  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const opened = async (database: string) =>
    (await compose(config(database), { listen: false, log: newLogger('silent') })).stop();

  const restored = async (name: string, lines: readonly string[]): Promise<string> => {
    await cluster.admin('postgres', `create database ${name} owner ${OWNER}`);
    cluster.restore(name, `${lines.join('\n')}\n`, { onError: 'go-on' });
    return name;
  };

  /** What a start might write. */
  const rowsIn = async (database: string) => {
    const tables = await cluster.admin(
      database,
      "select schemaname || '.' || relname as name from pg_stat_user_tables order by 1",
    );
    const counted = tables.map(
      ({ name }) => `select '${String(name)}' as name, count(*)::int as rows from ${String(name)}`,
    );
    return tables.length === 0 ? [] : cluster.admin(database, counted.join(' union all '));
  };

  it('is whole if everything was restored', async () => {
    const name = await restored('all_of_it', dump);
    await opened(name);
    expect(await findingsOf(config(name))).toEqual([]);
  });

  it.each(Array.from({ length: CUTS }, (_, n) => n))(
    'is refused with a sentence, found by doctor, and not written to (cut %i)',
    async (n) => {
      const first = dump.findIndex((line) => line.startsWith('CREATE TABLE'));
      const last = dump.findLastIndex((line) => /^(CREATE POLICY|ALTER TABLE .* ENABLE ROW LEVEL SECURITY)/.test(line));
      const at = first + Math.floor(((last - first) * (n + 0.5)) / CUTS);
      const name = await restored(`cut_${n}`, dump.slice(0, at));
      const before = await rowsIn(name);
      const refusal = await opened(name).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(ConfigError);
      expect((refusal as Error).message).toMatch(NOT_WHOLE);
      expect(await findingsOf(config(name))).toContainEqual(expect.stringMatching(NOT_WHOLE));
      expect(await rowsIn(name)).toEqual(before);
    },
    60_000,
  );

  it.each([
    ['index', (line: string) => /^CREATE INDEX \S+ ON public\.(?!\S+_v\d)/.test(line), 'index'],
    ['index of a read model', (line: string) => /^CREATE INDEX \S+_v\d+_/.test(line), 'indexes of'],
    [
      'key',
      (line: string) => /^ {4}ADD CONSTRAINT one_time_tokens_pkey/.test(line),
      'constraint one_time_tokens_pkey of one_time_tokens',
    ],
    ['key of a read model', (line: string) => /^ {4}ADD CONSTRAINT alerts_v\d+_pkey/.test(line), 'key of alerts_v'],
    [
      'row security',
      (line: string) => /^ALTER TABLE public.one_time_tokens ENABLE ROW/.test(line),
      'row security of one_time_tokens',
    ],
    [
      'row security of a read model',
      (line: string) => /^ALTER TABLE public.alerts_v\d+ ENABLE ROW/.test(line),
      'row security of alerts_v',
    ],
  ])('is refused where only one %s could not be made', async (what, isIt, part) => {
    const at = dump.findIndex(isIt);
    expect(at).toBeGreaterThan(0);
    const isSecondLine = dump[at]!.startsWith(' ');
    const without = dump.toSpliced(isSecondLine ? at - 1 : at, isSecondLine ? 2 : 1);
    const name = await restored(`without_${what.replaceAll(' ', '_')}`, without);
    await expect(opened(name)).rejects.toThrow(part);
    expect(await findingsOf(config(name))).toContainEqual(expect.stringContaining(part));
  });

  const findingsOf = async (of: Config): Promise<string[]> =>
    (await examine(of, { master: true, audit: true }))
      .filter(({ check, verdict }) => check === 'tables' && verdict === 'finding')
      .map(({ message }) => message);
});
