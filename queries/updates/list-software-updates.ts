import { z } from 'zod';
import type { SoftwareUpdateHistoryRow } from '../../projections/updates/software-update-history.ts';
import { updateActions } from '../../src/contexts/updates/domain/events.ts';
import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';

/** Choice OP-208; `exitCode`, `reason` and `output` are additions. */
export const softwareUpdateView = z.object({
  id: z.uuid(),
  fromVersion: z.string(),
  toVersion: z.string(),
  action: z.enum(updateActions),
  status: z.enum(['applying', 'applied', 'failed', 'rolled_back']),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
  actorId: z.uuid().nullable().describe('Null for tenants that do not administer the installation'),
  exitCode: z.int().nullable().describe("Of the operator's command"),
  reason: z.string().nullable().describe('Why it failed, or how else its outcome is known'),
  output: z
    .string()
    .nullable()
    .describe("The end of the command's output. Null for tenants that do not administer the installation"),
});
type SoftwareUpdateView = z.output<typeof softwareUpdateView>;

export interface SoftwareUpdateFilter extends Page {
  /** Whether the reader's tenant administers the installation. Others do not see who did it, nor the output. */
  readonly isAdministering: boolean;
}

const LIST = `
  select * from software_update_history where tenant_id = $1
   order by started_at desc, update_id limit $2 offset $3`;
const COUNT = 'select count(*)::int as total from software_update_history where tenant_id = $1';

/** Newest first. Ask it for the installation. */
export const listSoftwareUpdates: Query<SoftwareUpdateFilter, { history: SoftwareUpdateView[] } & Paginated> = async (
  reads,
  { isAdministering, ...page },
) => {
  const [rows, counted] = await Promise.all([
    reads.rows<SoftwareUpdateHistoryRow>(LIST, [page.pageSize, (page.page - 1) * page.pageSize]),
    reads.one<{ total: number }>(COUNT),
  ]);
  const history = rows.map((row) => ({
    id: row.update_id,
    fromVersion: row.from_version,
    toVersion: row.to_version,
    action: row.action,
    status: row.status,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    actorId: isAdministering ? row.actor_id : null,
    exitCode: row.exit_code,
    reason: row.reason,
    output: isAdministering ? row.output : null,
  }));
  return { history, ...paginated(counted?.total ?? 0, page) };
};
