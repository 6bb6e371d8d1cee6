import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordTelemetry } from '../../../commands/telemetry/record-telemetry.ts';
import { deviceDayStream } from '../../../src/contexts/telemetry/domain/device-day.ts';
import { telemetryEvents } from '../../../src/contexts/telemetry/domain/events.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import type { Append } from '../../../src/platform/eventstore/port.ts';
import { orThrow } from '../../../src/platform/kernel/failure.ts';
import { DAY, DEVICE, login, USER } from '../../dsl/observations.ts';
import { TENANTS } from '../../platform/projector/ledger.ts';
import { openProjectorApplication, type ProjectorApplication } from '../../platform/projector/projector-application.ts';

const COPIES = 12;
const tenantId = TENANTS[0]!;
const issuer = { tenantId, actor: { kind: 'device' as const, id: DEVICE } };

describe('copies of one batch, concurrent in one process', () => {
  let application: ProjectorApplication;
  const appends: string[] = [];
  let executor: Executor<object>;
  beforeAll(async () => {
    application = await openProjectorApplication([telemetryEvents]);
    const append = async (asked: Append) => {
      const verdict = await application.store.append(asked);
      appends.push(verdict.kind);
      return verdict;
    };
    const store = new Proxy(application.store, {
      get: (target, key) => {
        if (key === 'append') return append;
        const value = Reflect.get(target, key) as unknown;
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    executor = new Executor<object>(
      store,
      application.codec,
      new AggregateLoader(store, application.codec),
      () => randomUUID(),
      () => ({ ports: {}, compensate: async () => {} }),
    );
  });
  afterAll(() => application?.close());

  it('append once and without a conflict: the executor serializes the commands of a stream', async () => {
    const batch = {
      deviceId: DEVICE,
      userId: USER,
      day: DAY,
      deviceSequence: 1,
      extensionMode: 'learning',
      policyVersion: null,
      observations: [login(), login(), login()],
    };
    const outcomes = await Promise.all(
      Array.from({ length: COPIES }, () => executor.execute(recordTelemetry, batch, issuer)),
    );
    const results = outcomes.map((outcome) => orThrow(outcome).result);
    expect(results.filter(({ accepted }) => accepted === 3)).toHaveLength(1);
    expect(results.filter(({ duplicates }) => duplicates === 3)).toHaveLength(COPIES - 1);
    expect(appends).toEqual(['appended']);
    expect(await application.store.readStream(deviceDayStream(tenantId, DEVICE, DAY))).toHaveLength(1);
  });
});
