import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { StoredEvent } from '../../../platform/eventstore/port.ts';
import { canonicalJson } from '../../../platform/kernel/canonical-json.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';

export interface TenantHash {
  readonly events: number;
  readonly hash: Buffer;
}

const NOTHING: TenantHash = { events: 0, hash: Buffer.alloc(32) };

/** The content of an event that is the same in every store: everything but its position. */
export const hashedContentOf = ({
  tenantId,
  id,
  type,
  version,
  stream,
  revision,
  recordedAt,
  data,
  metadata,
}: StoredEvent): string =>
  canonicalJson({ tenantId, id, type, version, stream, revision: String(revision), recordedAt, data, metadata });

/** For each tenant, the number of events and one chained hash over all of them, in order. */
export class TenantHashes {
  readonly #hashes: Map<TenantId, TenantHash>;
  readonly #moved = new Set<TenantId>();

  private constructor(hashes: Map<TenantId, TenantHash>) {
    this.#hashes = hashes;
  }

  static async load(owner: pg.Pool): Promise<TenantHashes> {
    const { rows } = await owner.query<{ tenant_id: TenantId; events: string; hash: Buffer }>(
      'select tenant_id, events::text, hash from log_copy_tenants',
    );
    return new TenantHashes(
      new Map(rows.map(({ tenant_id, events, hash }) => [tenant_id, { events: Number(events), hash }])),
    );
  }

  add(tenantId: TenantId, content: string): void {
    const { events, hash } = this.#hashes.get(tenantId) ?? NOTHING;
    this.#hashes.set(tenantId, {
      events: events + 1,
      hash: createHash('sha256').update(hash).update(content).digest(),
    });
    this.#moved.add(tenantId);
  }

  get all(): ReadonlyMap<TenantId, TenantHash> {
    return this.#hashes;
  }

  async save(client: Pick<pg.PoolClient, 'query'>): Promise<void> {
    const moved = [...this.#moved];
    this.#moved.clear();
    await client.query(
      `insert into log_copy_tenants (tenant_id, events, hash) select * from unnest($1::uuid[], $2::bigint[], $3::bytea[])
       on conflict (tenant_id) do update set events = excluded.events, hash = excluded.hash`,
      [moved, moved.map((id) => this.#hashes.get(id)!.events), moved.map((id) => this.#hashes.get(id)!.hash)],
    );
  }
}
