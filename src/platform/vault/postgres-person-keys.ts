import { LRUCache } from 'lru-cache';
import type { TenantPool } from '../database/tenant-pool.ts';
import type { TenantId } from '../kernel/ids.ts';
import { newKey, decrypt, encrypt } from './keyring.ts';
import type { TenantDataKeys } from './tenant-data-keys.ts';
import { personKey, type Person, type PersonKeys } from './vault.ts';

const MAX_IN_MEMORY = 50_000;
/** The longest time a process uses a destroyed key, if it missed the erasure. */
const TRUSTED_FOR_MS = 60_000;

export class PostgresPersonKeys implements PersonKeys {
  readonly #pool: TenantPool;
  readonly #dataKeys: TenantDataKeys;
  /** Entries age by the wall clock: the monotonic clock stops while a virtual machine is suspended. */
  readonly #known = new LRUCache<string, Buffer>({
    max: MAX_IN_MEMORY,
    ttl: TRUSTED_FOR_MS,
    ttlResolution: 0,
    perf: Date,
  });

  constructor(pool: TenantPool, dataKeys: TenantDataKeys) {
    this.#pool = pool;
    this.#dataKeys = dataKeys;
  }

  async forSealing(tenantId: TenantId, personId: string): Promise<Buffer | undefined> {
    const known = this.#known.get(personKey({ tenantId, personId }));
    if (known) return known;
    const dataKey = await this.#dataKeys.get(tenantId);
    const wrapped = encrypt(dataKey, newKey(), bound(personId));
    const row = await this.#pool.transaction(tenantId, async (client) => {
      // The lock serializes this with an erasure, so that an erased person never gets a new key.
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [personKey({ tenantId, personId })]);
      await client.query(
        `insert into person_keys (tenant_id, person_id, wrapped)
         select $1, $2, $3 where not exists (select from erased_persons where tenant_id = $1 and person_id = $2)
         on conflict do nothing`,
        [tenantId, personId, wrapped],
      );
      const { rows } = await client.query<{ wrapped: Buffer }>(
        'select wrapped from person_keys where tenant_id = $1 and person_id = $2',
        [tenantId, personId],
      );
      return rows[0];
    });
    return row && this.#remember({ tenantId, personId }, decrypt(dataKey, row.wrapped, bound(personId)));
  }

  async forOpening(persons: readonly Person[]): Promise<ReadonlyMap<string, Buffer>> {
    const keys = new Map<string, Buffer>();
    const unknown = new Map<TenantId, Set<string>>();
    for (const person of persons) {
      const key = this.#known.get(personKey(person));
      if (key) keys.set(personKey(person), key);
      else unknown.set(person.tenantId, (unknown.get(person.tenantId) ?? new Set()).add(person.personId));
    }
    for (const [tenantId, ids] of unknown) await this.#load(tenantId, [...ids], keys);
    return keys;
  }

  async #load(tenantId: TenantId, ids: readonly string[], into: Map<string, Buffer>): Promise<void> {
    const dataKey = await this.#dataKeys.get(tenantId);
    const sql = 'select person_id, wrapped from person_keys where tenant_id = $1 and person_id = any($2)';
    const { rows } = await this.#pool.statement<{ person_id: string; wrapped: Buffer }>(
      tenantId,
      sql,
      [ids],
      'person-keys',
    );
    for (const { person_id: personId, wrapped } of rows) {
      into.set(
        personKey({ tenantId, personId }),
        this.#remember({ tenantId, personId }, decrypt(dataKey, wrapped, bound(personId))),
      );
    }
  }

  async destroy(tenantId: TenantId, personId: string): Promise<boolean> {
    this.forget(tenantId, personId);
    return this.#pool.transaction(tenantId, async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [personKey({ tenantId, personId })]);
      await client.query('delete from person_keys where tenant_id = $1 and person_id = $2', [tenantId, personId]);
      // Stored responses for retried requests are sealed under another key and may contain the person's data. Clear
      // them: a retry rebuilds its response from the events. Running attempts lose their row, so they store nothing
      // after this.
      await client.query(
        'update idempotent_answers set status = null, sealed_body = null, log_position = null, attempt = gen_random_uuid() where tenant_id = $1',
        [tenantId],
      );
      const { rowCount } = await client.query(
        'insert into erased_persons (tenant_id, person_id) values ($1, $2) on conflict do nothing',
        [tenantId, personId],
      );
      return rowCount === 1;
    });
  }

  forget(tenantId: TenantId, personId: string): void {
    this.#known.delete(personKey({ tenantId, personId }));
  }

  #remember(person: Person, key: Buffer): Buffer {
    this.#known.set(personKey(person), key);
    return key;
  }
}

const bound = (personId: string) => `person|${personId}`;
