import type { Application } from '../../src/app/compose/compose.ts';
import type { EventStore } from '../../src/platform/eventstore/port.ts';
import type { AnyReadModel } from '../../src/platform/kernel/read-model.ts';
import { diffModel } from '../../src/platform/projector/diff.ts';
import type { RebuildParts } from '../../src/platform/projector/rebuild.ts';
import { readingOnce } from './reading-once.ts';

const AT_ONCE = 2;
const TYPES_PAGE = 2_000;

type Services = Pick<Application['services'], 'store' | 'codec' | 'database' | 'models'>;

export interface FoldedTables {
  /** Models that the log has events for: each was replayed and compared. */
  readonly compared: readonly string[];
  /** Rows that differ, and models that cannot be compared, as text. */
  readonly differences: readonly string[];
}

/**
 * `projections diff` of all models, in much less time: several at once, from a log that is read once. Those that fold
 * nothing of the log have no rows.
 */
export async function foldedTables({ store, codec, database, models }: Services): Promise<FoldedTables> {
  const parts = { store: readingOnce(store), codec, pool: database.projector };
  const types = await typesIn(parts.store);
  const compared: string[] = [];
  const differences: string[] = [];
  const left = models.values();
  const compare = async (model: AnyReadModel): Promise<string[]> => {
    if (!Object.keys(model.on).some((type) => types.has(type))) return rowsFromNothing(parts, model);
    compared.push(model.name);
    return differencesOf(parts, model);
  };
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const model of left) {
        const found = await compare(model).catch((error: Error) => [error.message]);
        differences.push(...found.map((one) => `${model.name}: ${one}`));
      }
    }),
  );
  return { compared, differences };
}

async function differencesOf(parts: RebuildParts, model: AnyReadModel): Promise<string[]> {
  const { differences, setAside } = await diffModel(parts, model);
  return [
    ...differences.map(({ kind, key, columns }) => `${kind} ${JSON.stringify(key)} ${columns.join(', ')}`),
    ...setAside.map(({ stream, error }) => `${stream} cannot be folded: ${error}`),
  ];
}

async function rowsFromNothing({ pool }: RebuildParts, model: AnyReadModel): Promise<string[]> {
  const { rows } = await pool.query<{ row: object }>(`select to_jsonb(t) as row from public.${model.name} t limit 5`);
  return rows.map(({ row }) => `added ${JSON.stringify(row)}`);
}

async function typesIn(store: EventStore): Promise<ReadonlySet<string>> {
  const types = new Set<string>();
  let position = 0n;
  for (;;) {
    const page = await store.readAll(position, TYPES_PAGE);
    for (const { type } of page.events) types.add(type);
    if (page.events.length < TYPES_PAGE && !page.more) return types;
    position = page.position;
  }
}
