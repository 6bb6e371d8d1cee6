import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { personKey, type Person } from '../../platform/vault/vault.ts';

const PAGE = 2_000;

/** What events after a checkpoint reveal about the tables at the time they were written. */
export interface KeyTraces {
  /** Persons with sealed values in the log for whom the tables have neither a key nor an erasure. */
  readonly lost: readonly Person[];
  /**
   * The furthest position of an audit entry whose head was sealed: the audit log had reached at least that position.
   */
  readonly sealedTo: Position;
}

type Parts = { readonly store: Pick<EventStore, 'readAll'>; readonly service: TenantPool };

/**
 * Reads the log after the furthest checkpoint.
 *
 * A key is created before anything is sealed with it, and a backup of the tables is one snapshot. So every person named
 * up to that checkpoint has a key in them.
 */
export async function keyTracesAfter({ store, service }: Parts, after: Position): Promise<KeyTraces> {
  const persons = new Map<string, Person>();
  let sealedTo = 0n;
  for (let from = after; ;) {
    const { events, position } = await store.readAll(from, PAGE);
    for (const { tenantId, type, data } of events) {
      const { $sealed, position: sealed } = data as { $sealed?: { person?: unknown }; position?: unknown };
      const personId = $sealed?.person;
      if (typeof personId === 'string') persons.set(personKey({ tenantId, personId }), { tenantId, personId });
      if (
        type === 'AuditHeadSealed' &&
        typeof sealed === 'string' &&
        /^\d{1,19}$/.test(sealed) &&
        BigInt(sealed) > sealedTo
      )
        sealedTo = BigInt(sealed);
    }
    if (events.length < PAGE) break;
    from = position;
  }
  return { lost: await withoutKeys(service, [...persons.values()]), sealedTo };
}

const MISSING = `
  select id from unnest($2::uuid[]) id
   where not exists (select from person_keys k where k.tenant_id = $1 and k.person_id = id)
     and not exists (select from erased_persons e where e.tenant_id = $1 and e.person_id = id)`;

async function withoutKeys(service: TenantPool, persons: readonly Person[]): Promise<Person[]> {
  const byTenant = new Map<TenantId, string[]>();
  for (const { tenantId, personId } of persons) byTenant.set(tenantId, [...(byTenant.get(tenantId) ?? []), personId]);
  const lost: Person[] = [];
  for (const [tenantId, ids] of byTenant) {
    const { rows } = await service.statement<{ id: string }>(tenantId, MISSING, [ids]);
    lost.push(...rows.map(({ id }) => ({ tenantId, personId: id })));
  }
  return lost;
}
