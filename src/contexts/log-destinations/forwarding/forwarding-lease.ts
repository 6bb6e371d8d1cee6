import type pg from 'pg';

/** A process that stops renewing is replaced after this time. */
export const LEASE_SECONDS = 10;

/** Another process forwards, or a checkpoint is not where this process left it. */
export class ForwardingLost extends Error {
  constructor() {
    super('the lease on log forwarding was lost, or a checkpoint was moved');
    this.name = 'ForwardingLost';
  }
}

const ACQUIRE = `
  insert into log_forwarding_lease as l (owner, epoch, leased_until) values ($1, 1, now() + make_interval(secs => $2))
  on conflict (single) do update set owner = $1, epoch = l.epoch + 1, leased_until = now() + make_interval(secs => $2)
   where l.owner = $1 or l.leased_until < now()
  returning epoch::text`;
const RENEW = `
  update log_forwarding_lease set leased_until = now() + make_interval(secs => $3) where owner = $1 and epoch = $2::bigint`;
const RELEASE = `update log_forwarding_lease set leased_until = '-infinity' where owner = $1 and epoch = $2::bigint`;

/** One process of an installation forwards. Its epoch rises with every holder and fences every checkpoint. */
export class ForwardingLease {
  readonly #pool: pg.Pool;
  readonly #owner: string;

  constructor(pool: pg.Pool, owner: string) {
    this.#pool = pool;
    this.#owner = owner;
  }

  /** The epoch, or undefined while another process holds the lease. */
  async acquire(): Promise<bigint | undefined> {
    const { rows } = await this.#pool.query<{ epoch: string }>(ACQUIRE, [this.#owner, LEASE_SECONDS]);
    return rows[0] && BigInt(rows[0].epoch);
  }

  /** Throws `ForwardingLost` if another process holds the lease. */
  async renew(epoch: bigint): Promise<void> {
    const { rowCount } = await this.#pool.query(RENEW, [this.#owner, String(epoch), LEASE_SECONDS]);
    if (rowCount !== 1) throw new ForwardingLost();
  }

  async release(epoch: bigint): Promise<void> {
    await this.#pool.query(RELEASE, [this.#owner, String(epoch)]);
  }
}
