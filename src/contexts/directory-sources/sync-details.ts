import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { DirectoryPerson, WithheldGroup } from './domain/directory-reader.ts';
import type { PlannedGroup } from './domain/group-plan.ts';
import type { Progress, SyncPhase } from './sync-hold.ts';

/** People of a plan that a response lists. */
const LISTED = 100;
const ACTIONS = ['create', 'link', 'change', 'deactivate', 'refuse'] as const;

export interface PlannedPerson {
  readonly externalId: string;
  readonly userId: string | null;
  readonly userName: string | null;
  readonly email: string | null;
  readonly displayName: string | null;
  readonly refusal: string | null;
}

export interface SyncDetails {
  readonly phase: SyncPhase;
  readonly progress: Progress;
  readonly plan: Readonly<Record<(typeof ACTIONS)[number], readonly PlannedPerson[]>>;
  readonly plannedGroups: readonly PlannedGroup[];
  readonly unreadGroups: readonly WithheldGroup[];
}

interface PlannedRow {
  readonly external_id: string;
  readonly user_id: string | null;
  readonly person: DirectoryPerson | null;
  readonly refusal: string | null;
}

/** How far a synchronization is, and the first hundred people of each part of its plan. Kept until a day after its end. */
export async function syncDetails(
  pool: TenantPool,
  tenantId: TenantId,
  syncId: string,
): Promise<SyncDetails | undefined> {
  const { rows } = await pool.statement<Pick<SyncDetails, 'phase' | 'progress' | 'plannedGroups' | 'unreadGroups'>>(
    tenantId,
    `select phase, progress, planned_groups as "plannedGroups", coalesce(read_in_part -> 'withheld', '[]') as "unreadGroups"
       from directory_sync_runs where tenant_id = $1 and sync_id = $2`,
    [syncId],
  );
  if (!rows[0]) return undefined;
  const parts = await Promise.all(
    ACTIONS.map(async (action) => [action, await peopleOf(pool, tenantId, syncId, action)] as const),
  );
  return { ...rows[0], plan: Object.fromEntries(parts) as SyncDetails['plan'] };
}

async function peopleOf(
  pool: TenantPool,
  tenantId: TenantId,
  syncId: string,
  action: string,
): Promise<readonly PlannedPerson[]> {
  const condition = action === 'refuse' ? 'refusal is not null and $3::text is not null' : 'action = $3';
  const { rows } = await pool.statement<PlannedRow>(
    tenantId,
    `select external_id, person, refusal,
            case when action = 'create' and external_id > carried_out_to then null else user_id end as user_id
       from directory_sync_people join directory_sync_runs using (tenant_id, sync_id)
      where tenant_id = $1 and sync_id = $2 and ${condition} order by external_id limit ${LISTED}`,
    [syncId, action],
  );
  return rows.map(({ external_id, user_id, person, refusal }) => ({
    externalId: external_id,
    userId: user_id,
    userName: person?.userName ?? null,
    email: person?.email ?? null,
    displayName: person?.displayName ?? null,
    refusal,
  }));
}
