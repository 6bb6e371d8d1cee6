import { recordParkedRetry, recordParkedSkip } from '../../../commands/installation/record-parked-request.ts';
import { MAX_STREAMS_NAMED } from '../../contexts/installation/domain/parked-events.ts';
import { system } from '../../platform/kernel/actor.ts';
import { conflict, FailureError, invalid, notFound, orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { DeadLetterSummary } from '../../platform/projector/dead-letter-operations.ts';
import { reactions } from '../../contexts/reactions.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Projector } from '../../platform/projector/projector.ts';
import type { AnyReadModel } from '../../platform/kernel/read-model.ts';

export interface ParkedEventsCliDependencies {
  readonly executor: Executor<CommandPorts>;
  readonly projector: Projector;
  readonly models: readonly AnyReadModel[];
}

const MAX_LETTERS = 500;

export interface RetryRequest {
  readonly name: string;
  readonly stream?: string | undefined;
  readonly reason?: string | undefined;
}

export interface SkipRequest {
  readonly name: string;
  readonly stream: string;
  readonly reason: string;
}

/**
 * Requests a retry of the parked streams of a read model or reaction, and records it in the audit log of each tenant.
 * Returns what was parked. Throws `FailureError` for an unknown name and for a stream that is not parked.
 */
export async function retryParkedEvents(
  { projector, executor, models }: ParkedEventsCliDependencies,
  { name, stream, reason }: RetryRequest,
): Promise<DeadLetterSummary[]> {
  const known = [...models, ...reactions].map((one) => one.name);
  if (!known.includes(name))
    throw new FailureError(
      notFound('not_found', `no read model or reaction is called ${name}; there are ${known.join(', ')}`),
    );
  const parked = await projector.deadLetters.summary(name, stream);
  if (stream !== undefined) expectParked(name, stream, parked);
  for (const [tenantId, streams] of byTenant(parked)) {
    const data = { ...recorded(name, streams), reason: reason === undefined ? null : reasonOf(reason) };
    orThrow(
      await executor.execute(recordParkedRetry, data, { tenantId, actor: system('castellan projections retry') }),
    );
  }
  await projector.deadLetters.askRetry(name, stream);
  return parked;
}

/**
 * Skips the parked events of a reaction's stream, without their effects, and records that in the tenant's audit log.
 * Later events of the stream are processed. Throws `FailureError` for a read model, because its rows must match the
 * log.
 */
export async function skipParkedEvents(
  { projector, executor, models }: ParkedEventsCliDependencies,
  { name, stream, reason }: SkipRequest,
): Promise<DeadLetterSummary[]> {
  const model = models.find((one) => one.name === name);
  if (model?.onFoldFailure === 'halt')
    throw new FailureError(conflict('command_refused', `${name} must be complete: none of its events can be skipped`));
  if (model)
    throw new FailureError(
      conflict(
        'command_refused',
        `${name} is a read model, which must match the log: fix its fold, then run \`projections retry ${name}\``,
      ),
    );
  const known = reactions.map((one) => one.name);
  if (!known.includes(name))
    throw new FailureError(notFound('not_found', `no reaction is called ${name}; there are ${known.join(', ')}`));
  const parked = await projector.deadLetters.summary(name, stream);
  expectParked(name, stream, parked);
  const why = reasonOf(reason);
  // Record first, so that no event is ever skipped without a record.
  for (const one of parked) {
    orThrow(
      await executor.execute(
        recordParkedSkip,
        { ...recorded(name, [one]), reason: why },
        { tenantId: one.tenantId, actor: system('castellan projections skip') },
      ),
    );
    await projector.deadLetters.askSkip(name, stream, one.last);
  }
  return parked;
}

function expectParked(name: string, stream: string, parked: readonly DeadLetterSummary[]): void {
  if (parked.length === 0)
    throw new FailureError(
      notFound('not_found', `${stream} is not parked in ${name}; \`projections status\` lists the parked streams`),
    );
}

function reasonOf(text: string): string {
  const reason = text.trim();
  if (reason.length === 0 || reason.length > MAX_LETTERS)
    throw new FailureError(invalid('--reason', `must be 1 to ${MAX_LETTERS} characters long`));
  return reason;
}

function byTenant(parked: readonly DeadLetterSummary[]): ReadonlyMap<TenantId, DeadLetterSummary[]> {
  const tenants = new Map<TenantId, DeadLetterSummary[]>();
  for (const one of parked) tenants.set(one.tenantId, [...(tenants.get(one.tenantId) ?? []), one]);
  return tenants;
}

const recorded = (projection: string, streams: readonly DeadLetterSummary[]) => ({
  projection,
  streamCount: streams.length,
  streams: streams.slice(0, MAX_STREAMS_NAMED).map(({ stream, events, first, last, eventTypes }) => ({
    stream,
    events,
    firstPosition: String(first),
    lastPosition: String(last),
    eventTypes: [...eventTypes],
  })),
});
