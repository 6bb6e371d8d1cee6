import type pg from 'pg';

/** A generation of the key that signs access tokens. */
export interface TokenKeyGeneration {
  readonly number: number;
  /** Epoch milliseconds at which any process first used it. */
  readonly since: number;
}

/**
 * The generation that this process signs with. The first process to use it records when it began; one that only looks
 * signs nothing.
 */
export async function tokenKeyGeneration(
  owner: pg.Pool,
  number: number,
  { onlyLooks = false }: { readonly onlyLooks?: boolean } = {},
): Promise<TokenKeyGeneration> {
  if (!onlyLooks)
    await owner.query('insert into token_key_generations (generation) values ($1) on conflict do nothing', [number]);
  const { rows } = await owner.query<{ since: string }>(
    'select extract(epoch from first_used_at) * 1000 as since from token_key_generations where generation = $1',
    [number],
  );
  return { number, since: rows[0] ? Number(rows[0].since) : Date.now() };
}
