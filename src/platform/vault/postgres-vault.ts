import { randomUUID } from 'node:crypto';
import { Batcher } from '../database/batcher.ts';
import type { TenantPool } from '../database/tenant-pool.ts';
import type { TenantId } from '../kernel/ids.ts';
import { decrypt, encrypt } from './keyring.ts';
import type { TenantDataKeys } from './tenant-data-keys.ts';
import type { SecretLocation, Vault } from './vault.ts';

export class PostgresVault implements Vault {
  readonly #pool: TenantPool;
  readonly #dataKeys: TenantDataKeys;
  readonly #batcher = new Batcher((tenantId: TenantId, references: readonly string[]) =>
    this.#sealed(tenantId, references),
  );

  constructor(pool: TenantPool, dataKeys: TenantDataKeys) {
    this.#pool = pool;
    this.#dataKeys = dataKeys;
  }

  async put(tenantId: TenantId, place: SecretLocation, secret: string | Buffer): Promise<string> {
    const key = await this.#dataKeys.get(tenantId);
    const id = randomUUID();
    const sealed = encrypt(key, Buffer.from(secret), boundTo(tenantId, place, id));
    await this.#pool.statement(
      tenantId,
      'insert into secrets (tenant_id, id, owner, field, sealed) values ($1, $2, $3, $4, $5)',
      [id, place.owner, place.field, sealed],
    );
    return id;
  }

  async get(tenantId: TenantId, place: SecretLocation, reference: string): Promise<Buffer | undefined> {
    const key = await this.#dataKeys.get(tenantId);
    const sealed = await this.#batcher.load(tenantId, reference);
    return sealed && decrypt(key, sealed, boundTo(tenantId, place, reference));
  }

  async forget(tenantId: TenantId, reference: string): Promise<void> {
    await this.#pool.statement(tenantId, 'delete from secrets where tenant_id = $1 and id = $2', [reference]);
  }

  async #sealed(tenantId: TenantId, references: readonly string[]): Promise<(Buffer | undefined)[]> {
    const { rows } = await this.#pool.statement<{ id: string; sealed: Buffer }>(
      tenantId,
      'select id, sealed from secrets where tenant_id = $1 and id = any($2)',
      [references],
      'secrets',
    );
    const found = new Map(rows.map(({ id, sealed }) => [id, sealed]));
    return references.map((reference) => found.get(reference));
  }
}

const boundTo = (tenantId: TenantId, { owner, field }: SecretLocation, id: string) =>
  `${tenantId}|${id}|${owner}|${field}`;
