import { z } from 'zod';
import { recordAlertForwarded } from '../../../commands/alerts/record-alert-forwarded.ts';
import { getAlert } from '../../../queries/alerts/get-alert.ts';
import type { AlertView } from '../../../queries/alerts/alert-view.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { ExecutionContext } from '../../platform/execution/execution-context.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../platform/jobs/job.ts';
import { system } from '../../platform/kernel/actor.ts';
import { isFailure, type Failure } from '../../platform/kernel/failure.ts';
import { asTenantId, uuid, type TenantId } from '../../platform/kernel/ids.ts';
import { pick } from '../../platform/kernel/pick.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import { PortalUnavailable, type Portal } from './portal.ts';

export interface Forwarding {
  readonly portal: Portal;
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  reads(tenantId: TenantId): TenantReads;
}

/** An alert, and the id by which the portal recognizes a repeated delivery. */
export interface Delivery {
  readonly alertId: string;
  readonly deliveryId: string;
}

/** What the portal gets of an alert. It names the person only by id. */
const SENT = [
  'id',
  'alertType',
  'severity',
  'status',
  'title',
  'description',
  'domain',
  'userId',
  'deviceId',
  'occurrenceCount',
  'metadata',
  'resolution',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof AlertView)[];

/**
 * Sends an alert to the portal and records the receipt. Returns a failure if the alert does not exist. Throws
 * `PortalUnavailable`.
 */
export async function forwardAlert(
  { portal, executor, reads }: Forwarding,
  { alertId, deliveryId }: Delivery,
  execution: ExecutionContext,
) {
  const alert = await getAlert(reads(execution.tenantId), { alertId });
  if (isFailure(alert)) return alert;
  const portalAlertId = await portal.deliver(deliveryId, {
    deliveryId,
    tenantId: execution.tenantId,
    alert: pick(alert, SENT),
  });
  const executed = await executor.execute(recordAlertForwarded, { alertId, portalAlertId, deliveryId }, execution);
  return isFailure(executed) ? executed : { portalAlertId, position: executed.position };
}

export type ForwardedAlert = Exclude<Awaited<ReturnType<typeof forwardAlert>>, Failure>;

/** Retries a failed delivery for about a day. */
export const alertForwarding = declareJob({
  name: 'forward-alert',
  data: z.object({ tenantId: uuid(), alertId: uuid(), deliveryId: uuid() }),
  attempts: 8,
  backoff: [60_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 28_800_000, 28_800_000],
});

export const forwardAlertJob = (forwarding: Forwarding): AnyJob =>
  defineJob({
    ...alertForwarding,
    handle: async ({ tenantId, alertId, deliveryId }, { correlationId }) => {
      const execution = { tenantId: asTenantId(tenantId), actor: system('portal-forwarding'), correlationId };
      try {
        await forwardAlert(forwarding, { alertId, deliveryId }, execution);
      } catch (error) {
        throw new JobFailed(error instanceof PortalUnavailable ? error.message : 'the alert was not forwarded', {
          cause: error,
        });
      }
    },
  });
