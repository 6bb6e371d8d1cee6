import type pg from 'pg';
import { ConfigError } from '../config-error.ts';
import { partsInWords, unended } from '../database/parts.ts';
import { versionOf, type AnyReaction } from '../kernel/reaction.ts';
import type { AnyReadModel } from '../kernel/read-model.ts';
import { tableShapeOf } from './projection.ts';

interface Table {
  readonly name: string;
  readonly version: number;
  readonly table: string;
  readonly isModel: boolean;
  readonly exists: boolean;
  readonly isGuarded: boolean;
  readonly hasKey: boolean;
  readonly indexes: number;
}

/** Of every checkpoint that is in use. */
const TABLES = `
  with named as (
    select name, version, kind = 'model' as "isModel",
           case when kind = 'model' then name || '_v' || version || case when generation > 1 then '_g' || generation else '' end
                else replace(name, '-', '_') || '_state_v' || version end as table
      from cursors where state <> 'retired'
  )
  select n.*, c.oid is not null as exists, coalesce(c.relrowsecurity, false) as "isGuarded", coalesce(bool_or(x.indisprimary and x.indisvalid), false) as "hasKey",
         count(x.indexrelid) filter (where x.indisvalid and not x.indisprimary)::int as indexes
    from named n left join pg_class c on c.relnamespace = 'public'::regnamespace and c.relname = n.table and c.relkind = 'r'
    left join pg_index x on x.indrelid = c.oid
   group by n.name, n.version, n."isModel", n.table, c.oid, c.relrowsecurity`;

/**
 * What the tables of read models, and of the states of reactions, lack of keys, indexes and row security, as in a database
 * that is restored in part. Undefined if nothing. `pool` may be any that sees the catalog and the checkpoints.
 */
export async function whatTablesLack(
  pool: Pick<pg.Pool, 'query'>,
  models: readonly AnyReadModel[],
  reactions: readonly AnyReaction[],
): Promise<string | undefined> {
  const { rows } = await pool.query<Table>(TABLES);
  const lacking = rows.flatMap((table) => lacksOf(table, models, reactions));
  return lacking.length === 0 ? undefined : unended(`it lacks ${partsInWords(lacking.toSorted())}`);
}

function lacksOf(found: Table, models: readonly AnyReadModel[], reactions: readonly AnyReaction[]): string[] {
  const { table, isModel, exists, isGuarded, hasKey, indexes } = found;
  if (!exists) return isModel || isKept(found, reactions) ? [`table ${table}`] : [];
  const model = isModel && models.find(({ name, version }) => name === found.name && version === found.version);
  const wanted = model ? tableShapeOf(model).indexes.length : 0;
  return [
    ...(hasKey ? [] : [`key of ${table}`]),
    ...(indexes < wanted ? [`indexes of ${table}`] : []),
    ...(isModel && !isGuarded ? [`row security of ${table}`] : []),
  ];
}

/** A reaction without a state has no table, and one of another version of this software may have none. */
const isKept = ({ name, version }: Table, reactions: readonly AnyReaction[]): boolean =>
  reactions.some((one) => one.name === name && versionOf(one) === version && one.state !== undefined);

/** Throws `ConfigError`. */
export async function requireWholeTables(
  pool: Pick<pg.Pool, 'query'>,
  models: readonly AnyReadModel[],
  reactions: readonly AnyReaction[],
): Promise<void> {
  const reason = await whatTablesLack(pool, models, reactions);
  if (reason !== undefined) throw new ConfigError(reason);
}
