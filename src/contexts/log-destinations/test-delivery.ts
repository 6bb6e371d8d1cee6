import { randomUUID } from 'node:crypto';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { DestinationSinks } from './forwarding/destination-sinks.ts';
import type { OpenedDestination } from './forwarding/page-sender.ts';
import type { LogRecord } from './formats/log-record.ts';
import { SinkFailed } from './sinks/sink.ts';

const TIMEOUT_MS = 15_000;

export interface TestDelivery {
  readonly success: boolean;
  /** Fixed words. */
  readonly message: string;
  readonly latencyMs: number;
}

/** Sends one record that says that it is a test (OP-206). Undefined if there is no such destination. */
export async function sendTestRecord(
  sinks: DestinationSinks,
  tenantId: TenantId,
  destinationId: string,
): Promise<TestDelivery | undefined> {
  const began = performance.now();
  const result = (success: boolean, message: string): TestDelivery => ({
    success,
    message,
    latencyMs: Math.round(performance.now() - began),
  });
  let opened: OpenedDestination | undefined;
  try {
    opened = await sinks.open(tenantId, destinationId);
    if (!opened) return undefined;
    const { sink, format } = opened;
    const record = testRecord(tenantId);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const outgoing = { record, line: format(record), position: 0n, recordedAt: Date.parse(record.timestamp) };
    const [refusal] = await sink.send([outgoing], signal);
    if (refusal) return result(false, 'the destination refuses the content');
    await sink.confirm(signal);
    return result(
      true,
      sink.limits.isUnacknowledged ? 'sent; UDP gives no acknowledgement' : 'the record was delivered',
    );
  } catch (error) {
    if (error instanceof SinkFailed) return result(false, error.message);
    if ((error as Error).name === 'TimeoutError') return result(false, 'the destination does not respond in time');
    throw error;
  } finally {
    opened?.sink.close();
  }
}

const testRecord = (tenantId: TenantId): LogRecord => ({
  timestamp: new Date().toISOString(),
  tenantId,
  type: 'audit',
  id: randomUUID(),
  severity: 'info',
  data: { action: 'log_destination.test', details: { isTest: true } },
});
