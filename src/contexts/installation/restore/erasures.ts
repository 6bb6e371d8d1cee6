import { randomUUID } from 'node:crypto';
import { carryOutErasure } from '../../../../commands/employees/carry-out-erasure.ts';
import { removeLostAdmin } from '../../../../commands/installation/remove-lost-admin.ts';
import { employee, employeeStream } from '../../employees/domain/employee.ts';
import { system } from '../../../platform/kernel/actor.ts';
import type { EventMetadata } from '../../../platform/kernel/event.ts';
import { conflict, FailureError, orThrow } from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { EventStore } from '../../../platform/eventstore/port.ts';
import type { EventCodec } from '../../../platform/eventstore/codec.ts';
import type { AggregateLoader } from '../../../platform/execution/aggregate-loader.ts';
import type { Executor } from '../../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../../commands/ports.ts';

export interface ErasuresDependencies {
  readonly database: Database;
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
}

const ACTOR = system('castellan restore');

/**
 * Repeats erasures that the tables know about in the log: every person whose key was destroyed is erased there too.
 *
 * An older log may have lost the erasure. Persons whose keys are lost were never erased at all. Afterwards their e-mail
 * addresses are free. Idempotent.
 */
export async function carryOutErasures(services: ErasuresDependencies): Promise<void> {
  const { rows } = await services.database.owner.query<{ tenant_id: TenantId; person_id: string }>(
    'select tenant_id, person_id from erased_persons order by erased_at, person_id',
  );
  for (const { tenant_id: tenantId, person_id: personId } of rows) await carryOut(services, tenantId, personId);
}

async function carryOut(services: ErasuresDependencies, tenantId: TenantId, personId: string): Promise<void> {
  const { executor, loader, store } = services;
  const issuer = { tenantId, actor: ACTOR };
  const { status } = await loader.load(employee, employeeStream(tenantId, personId));
  // An admin, or a person of whom the log has no events any more.
  if (status === 'none') return void orThrow(await executor.execute(removeLostAdmin, { adminId: personId }, issuer));
  if (status === 'erased') return;
  if (status !== 'erasing') await decideErasure(services, tenantId, personId, status === 'deleted');
  orThrow(await executor.execute(carryOutErasure, { userId: personId }, issuer));
  await store.forgetTelemetryOf(tenantId, personId);
}

/**
 * Like `ErasePerson`, except for the claims: the e-mail's digest was lost with the key, so all claims of the stream are
 * released.
 */
async function decideErasure(
  { store, codec, loader }: ErasuresDependencies,
  tenantId: TenantId,
  userId: string,
  isDeleted: boolean,
): Promise<void> {
  const stream = employeeStream(tenantId, userId);
  const events = [
    ...(isDeleted ? [] : [{ type: 'EmployeeDeleted', data: { userId } }]),
    { type: 'EmployeeErasureRequested', data: { userId } },
  ];
  const run = randomUUID();
  const metadata: EventMetadata = { actor: ACTOR, correlationId: run, causationId: run, commandId: run };
  const [last] = await store.readStreamTail(stream, 1);
  const encoded = await Promise.all(events.map((event) => codec.encode(randomUUID(), tenantId, event, metadata)));
  const verdict = await store.append({
    tenantId,
    stream,
    expectedRevision: last!.revision,
    events: encoded,
    claim: [],
    release: await store.claimsHeldBy(stream),
  });
  if (verdict.kind !== 'appended')
    throw new FailureError(
      conflict(
        'command_refused',
        `${stream} was changed in the meantime: stop every process of the service, and run the command again`,
      ),
    );
  loader.forget();
}
