import { LRUCache } from 'lru-cache';
import { Batcher } from '../database/batcher.ts';
import type { TenantPool } from '../database/tenant-pool.ts';
import { settleAll } from '../database/transaction.ts';
import type { TenantId } from '../kernel/ids.ts';
import { newKey, decrypt, encrypt } from './keyring.ts';
import type { TenantDataKeys } from './tenant-data-keys.ts';
import { personKey, type Person, type PersonKeys } from './vault.ts';

const MAX_IN_MEMORY = 50_000;
/** The longest time a process uses a destroyed key, if it missed the erasure. */
const TRUSTED_FOR_MS = 60_000;

/** Persons of one transaction: it holds a lock for each. */
const AT_ONCE = 256;

interface KeyRow {
  readonly person_id: string;
  readonly wrapped: Buffer;
}

/** The locks serialize this with erasures, so that an erased person never gets a new key. Their order avoids deadlocks. */
const LOCK_PERSONS = `
  select pg_advisory_xact_lock(lock)
    from (select distinct hashtextextended(name, 0) as lock from unnest($1::text[]) as name order by lock) locks`;
const MAKE_KEYS = `
  insert into person_keys (tenant_id, person_id, wrapped)
  select $1, n.person_id, n.wrapped from unnest($2::uuid[], $3::bytea[]) as n(person_id, wrapped)
   where not exists (select from erased_persons e where e.tenant_id = $1 and e.person_id = n.person_id)
  on conflict do nothing`;
const KEYS = 'select person_id, wrapped from person_keys where tenant_id = $1 and person_id = any($2)';

export class PostgresPersonKeys implements PersonKeys {
  readonly #pool: TenantPool;
  readonly #dataKeys: TenantDataKeys;
  /** Entries age by the wall clock: the monotonic clock stops while a virtual machine is suspended. */
  readonly #known = new LRUCache<string, Buffer>({
    // `max` would allocate room for all of them at once.
    maxSize: MAX_IN_MEMORY,
    sizeCalculation: () => 1,
    ttl: TRUSTED_FOR_MS,
    ttlResolution: 0,
    perf: Date,
  });
  readonly #unknown = new Batcher(
    (tenantId: TenantId, personIds: readonly string[]) => this.#makeKeys(tenantId, personIds),
    AT_ONCE,
  );

  constructor(pool: TenantPool, dataKeys: TenantDataKeys) {
    this.#pool = pool;
    this.#dataKeys = dataKeys;
  }

  /** Calls of one tick share a transaction. */
  async forSealing(tenantId: TenantId, personId: string): Promise<Buffer | undefined> {
    return this.#known.get(personKey({ tenantId, personId })) ?? this.#unknown.load(tenantId, personId);
  }

  async forSealingAll(tenantId: TenantId, personIds: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const keys = new Map<string, Buffer>();
    const unknown = new Set<string>();
    for (const personId of personIds) {
      const key = this.#known.get(personKey({ tenantId, personId }));
      if (key) keys.set(personId, key);
      else unknown.add(personId);
    }
    await Promise.all(
      Array.from(unknown, async (personId) => {
        const key = await this.#unknown.load(tenantId, personId);
        if (key) keys.set(personId, key);
      }),
    );
    return keys;
  }

  async #makeKeys(tenantId: TenantId, personIds: readonly string[]): Promise<(Buffer | undefined)[]> {
    const ids = [...new Set(personIds)];
    const dataKey = await this.#dataKeys.get(tenantId);
    const wrapped = ids.map((personId) => encrypt(dataKey, newKey(), bound(personId)));
    const names = ids.map((personId) => personKey({ tenantId, personId }));
    const rows = await this.#pool.packet(tenantId, async (client) => {
      const locked = client.query(LOCK_PERSONS, [names]);
      const made = client.query(MAKE_KEYS, [tenantId, ids, wrapped]);
      const read = client.query<KeyRow>(KEYS, [tenantId, ids]);
      await settleAll([locked, made, read]);
      return (await read).rows;
    });
    const keys = this.#opened(tenantId, dataKey, rows);
    return personIds.map((personId) => keys.get(personId));
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
    const { rows } = await this.#pool.statement<KeyRow>(tenantId, KEYS, [ids], 'person-keys');
    for (const [personId, key] of this.#opened(tenantId, dataKey, rows))
      into.set(personKey({ tenantId, personId }), key);
  }

  #opened(tenantId: TenantId, dataKey: Buffer, rows: readonly KeyRow[]): ReadonlyMap<string, Buffer> {
    return new Map(
      rows.map(({ person_id: personId, wrapped }) => {
        const key = decrypt(dataKey, wrapped, bound(personId));
        this.#known.set(personKey({ tenantId, personId }), key);
        return [personId, key];
      }),
    );
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
}

const bound = (personId: string) => `person|${personId}`;
