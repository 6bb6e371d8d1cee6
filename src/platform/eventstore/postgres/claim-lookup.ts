import type pg from 'pg';
import { Batcher } from '../../database/batcher.ts';
import type { ClaimKey } from '../port.ts';

const HOLDERS = `
  select c.tenant_id, c.kind, encode(c.digest, 'hex') as digest, c.stream
    from unnest($1::uuid[], $2::text[], $3::text[]) as asked(tenant_id, kind, digest)
    join claims c on c.tenant_id = asked.tenant_id and c.kind = asked.kind and c.digest = decode(asked.digest, 'hex')`;

const HELD = `select tenant_id as "tenantId", kind, encode(digest, 'hex') as digest from claims where stream = $1`;

const nameOf = ({ tenant_id, kind, digest }: { tenant_id: string; kind: string; digest: string }) =>
  `${tenant_id}/${kind}/${digest}`;

/** Looks up holders of claims. Look-ups of one tick share a statement: a search for a free seat needs a thousand. */
export class ClaimLookup {
  readonly #pool: pg.Pool;
  readonly #batcher = new Batcher((_: 'all', claims: readonly ClaimKey[]) => this.#holders(claims));

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  holder(claim: ClaimKey): Promise<string | undefined> {
    return this.#batcher.load('all', claim);
  }

  /** Reads all claims. Only for operators' commands. */
  async heldBy(stream: string): Promise<ClaimKey[]> {
    return (await this.#pool.query<ClaimKey>(HELD, [stream])).rows;
  }

  async #holders(claims: readonly ClaimKey[]): Promise<(string | undefined)[]> {
    const { rows } = await this.#pool.query<{ tenant_id: string; kind: string; digest: string; stream: string }>({
      name: 'claim-holders',
      text: HOLDERS,
      values: [
        claims.map(({ tenantId }) => tenantId),
        claims.map(({ kind }) => kind),
        claims.map(({ digest }) => digest),
      ],
    });
    const holders = new Map(rows.map((row) => [nameOf(row), row.stream]));
    return claims.map(({ tenantId, kind, digest }) => holders.get(nameOf({ tenant_id: tenantId, kind, digest })));
  }
}
