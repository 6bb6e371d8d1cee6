import type pg from 'pg';
import type { ClaimKey } from '../port.ts';

interface Waiting {
  readonly claim: ClaimKey;
  readonly answer: (holder: string | undefined) => void;
  readonly fail: (error: Error) => void;
}

const HOLDERS = `
  select c.tenant_id, c.kind, encode(c.digest, 'hex') as digest, c.stream
    from unnest($1::uuid[], $2::text[], $3::text[]) as asked(tenant_id, kind, digest)
    join claims c on c.tenant_id = asked.tenant_id and c.kind = asked.kind and c.digest = decode(asked.digest, 'hex')`;
const MOST = 1_000;

const nameOf = ({ tenant_id, kind, digest }: { tenant_id: string; kind: string; digest: string }) => `${tenant_id}/${kind}/${digest}`;

/** Who holds a claim. What is asked at once is one statement: whoever looks for a free seat asks for a thousand. */
export class ClaimLookup {
  readonly #pool: pg.Pool;
  #waiting: Waiting[] = [];

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  holder(claim: ClaimKey): Promise<string | undefined> {
    return new Promise((answer, fail) => {
      this.#waiting.push({ claim, answer, fail });
      if (this.#waiting.length === 1) setImmediate(() => this.#ask());
    });
  }

  #ask(): void {
    const asked = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < asked.length; from += MOST) void this.#answer(asked.slice(from, from + MOST));
  }

  async #answer(asked: readonly Waiting[]): Promise<void> {
    try {
      const { rows } = await this.#pool.query<{ tenant_id: string; kind: string; digest: string; stream: string }>({
        name: 'claim-holders',
        text: HOLDERS,
        values: [asked.map(({ claim }) => claim.tenantId), asked.map(({ claim }) => claim.kind), asked.map(({ claim }) => claim.digest)],
      });
      const holders = new Map(rows.map((row) => [nameOf(row), row.stream]));
      for (const { claim, answer } of asked) answer(holders.get(nameOf({ tenant_id: claim.tenantId, kind: claim.kind, digest: claim.digest })));
    } catch (error) {
      for (const { fail } of asked) fail(error as Error);
    }
  }
}
