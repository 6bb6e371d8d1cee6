import type pg from 'pg';
import { endMessageWindow } from '../../../commands/notifications/admit-message.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import { maintenanceQuery } from '../../platform/database/time-limits.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { defineJob, type AnyJob } from '../../platform/jobs/job.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { system } from '../../platform/kernel/actor.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId } from '../../platform/kernel/ids.ts';
import type { ChannelName, Recipient } from './domain/message.ts';
import type { DeliverySender } from './delivery-sender.ts';
import { deliveryWaking, dueDeliveries, webhookReplaying } from './jobs.ts';

const TIME_LIMIT_MS = 15_000;
const AT_ONCE = 5_000;
/** Of one tenant and channel: a tenant whose receiver hangs leaves room for others. */
const PER_TENANT = 500;
/** Time for the ordinary job. */
const LATE_SECONDS = 10;

const DUE = `
  select tenant_id, delivery_id, channel, attempts from (
    select tenant_id, delivery_id, channel, attempts, next_attempt_at,
           row_number() over (partition by tenant_id, channel order by next_attempt_at) as turn
      from deliveries
     where next_attempt_at < now() - interval '${LATE_SECONDS} seconds'
       and (held_until is null or held_until < now())) due
   where turn <= ${PER_TENANT} order by turn, next_attempt_at limit ${AT_ONCE}`;

const WINDOWS = `
  select tenant_id, channel, recipient from message_windows
   where digest_due_at < $1 order by digest_due_at limit ${AT_ONCE}`;

interface Due {
  readonly tenant_id: string;
  readonly delivery_id: string;
  readonly channel: ChannelName;
  readonly attempts: number;
}

/** Replays that plan nothing although nothing waits for the receiver: their job is lost. */
const REPLAYS = `
  select tenant_id, replay_id from webhook_replays replay
   where started_at < now() - interval '2 minutes' and not exists (
     select 1 from deliveries
      where tenant_id = replay.tenant_id and replay_id = replay.replay_id
        and (next_attempt_at is not null or planned_at > now() - interval '2 minutes'))`;

export interface SweepPorts {
  readonly projector: pg.Pool;
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  jobs(): Pick<Jobs, 'enqueue'>;
}

/** Hands a delivery to the sender of this process, and returns at once: a receiver that hangs occupies no worker. */
export const sendDelivery = (sender: Pick<DeliverySender, 'submit'>): AnyJob =>
  defineJob({
    ...deliveryWaking,
    handle: async ({ tenantId, deliveryId, channel }) => sender.submit(asTenantId(tenantId), deliveryId, channel),
  });

/**
 * Makes lost jobs again: after a crash, after Redis came back without its data, after an outage. A job for a delivery
 * that is not due does nothing.
 */
export const sweepDeliveries = ({ projector, executor, jobs }: SweepPorts): AnyJob =>
  defineJob({
    ...dueDeliveries,
    handle: async (_data, { signal }) => {
      // At most one more job a minute for each delivery.
      const minute = new Date().toISOString().slice(0, 16);
      const due = await maintenanceQuery<Due>(projector, TIME_LIMIT_MS, DUE);
      for (const { tenant_id, delivery_id: deliveryId, channel, attempts } of due.rows) {
        if (signal.aborted) return;
        const tenantId = asTenantId(tenant_id);
        const id = `${deliveryId}/${attempts}/${minute}`;
        await jobs().enqueue(deliveryWaking, { tenantId, deliveryId, channel }, { id, tenantId });
      }
      const windows = await maintenanceQuery<{ tenant_id: string; channel: ChannelName; recipient: Recipient }>(
        projector,
        TIME_LIMIT_MS,
        WINDOWS,
        [new Date().toISOString()],
      );
      const replays = await maintenanceQuery<{ tenant_id: string; replay_id: string }>(
        projector,
        TIME_LIMIT_MS,
        REPLAYS,
      );
      for (const { tenant_id: tenantId, replay_id: replayId } of replays.rows) {
        // At most once in ten minutes.
        const id = `${replayId}/${minute.slice(0, 15)}`;
        await jobs().enqueue(webhookReplaying, { tenantId, replayId }, { id });
      }
      for (const { tenant_id, channel, recipient } of windows.rows) {
        if (signal.aborted) return;
        const execution = { tenantId: asTenantId(tenant_id), actor: system('outbox') };
        orThrow(await executor.execute(endMessageWindow, { channel, recipient }, execution));
      }
    },
  });
