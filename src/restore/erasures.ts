import { carryOutErasure } from '../../commands/employees/carry-out-erasure.ts';
import { erasePerson } from '../../commands/employees/erase-person.ts';
import { removeLostAdmin } from '../../commands/installation/remove-lost-admin.ts';
import { system } from '../kernel/actor.ts';
import { isFailure, orThrow, type Failure } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';

type Needed = Pick<Services, 'database' | 'executor' | 'store'>;

/**
 * Carries out in the log what the tables know of: whose key was destroyed is erased there too. An older log may have lost the erasure,
 * and persons whose keys are lost were never erased at all. Their e-mail addresses are free afterwards. Any number of times is once.
 */
export async function carryOutErasures(services: Needed): Promise<void> {
  const { rows } = await services.database.owner.query<{ tenant_id: TenantId; person_id: string }>('select tenant_id, person_id from erased_persons order by erased_at, person_id');
  for (const { tenant_id: tenantId, person_id: personId } of rows) await carryOut(services, tenantId, personId);
}

async function carryOut({ executor, store }: Needed, tenantId: TenantId, personId: string): Promise<void> {
  const issuer = { tenantId, actor: system('castellan restore') };
  const decided = await executor.execute(erasePerson, { userId: personId }, issuer);
  if (isUnknown(decided)) return void orThrow(await executor.execute(removeLostAdmin, { adminId: personId }, issuer));
  orThrow(decided);
  const { events } = orThrow(await executor.execute(carryOutErasure, { userId: personId }, issuer));
  if (events.length > 0) await store.forgetTelemetryOf(tenantId, personId);
}

/** No employee: an admin, or somebody of whom the log knows nothing any more. */
const isUnknown = (outcome: unknown): outcome is Failure => isFailure(outcome) && outcome.kind === 'notFound';
