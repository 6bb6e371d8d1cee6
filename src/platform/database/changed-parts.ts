import type { Kysely } from 'kysely';

/** Runs a migration, and records what it makes and drops, in its own transaction (`parts.ts`). */
export async function keepingParts(db: Kysely<unknown>, migration: () => Promise<void>): Promise<void> {
  const before = await partsIn(db);
  await migration();
  if (before === undefined) return;
  const after = (await partsIn(db)) ?? [];
  await change(db, {
    made: after.filter((part) => !before.includes(part)),
    dropped: before.filter((part) => !after.includes(part)),
  });
}

/** Undefined before migration 055, which records all that is there. */
async function partsIn(db: Kysely<unknown>): Promise<readonly string[] | undefined> {
  const { sql } = await import('kysely');
  const { rows } = await sql<{
    known: boolean;
  }>`select to_regclass('public.present_parts') is not null as known`.execute(db);
  if (!rows[0]!.known) return undefined;
  return (await sql<{ part: string }>`select part from present_parts`.execute(db)).rows.map(({ part }) => part);
}

interface Change {
  readonly made: readonly string[];
  readonly dropped: readonly string[];
}

async function change(db: Kysely<unknown>, { made, dropped }: Change): Promise<void> {
  const { sql } = await import('kysely');
  await sql`delete from kept_parts where part = any(${dropped})`.execute(db);
  await sql`insert into kept_parts (part) select unnest(${made}::text[]) on conflict do nothing`.execute(db);
}
