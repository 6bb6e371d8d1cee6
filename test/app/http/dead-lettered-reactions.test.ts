import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { retryParkedEvents, skipParkedEvents } from '../../../src/app/cli/parked-events.ts';
import { deviceDayStream } from '../../../src/contexts/telemetry/domain/device-day.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { eventually, METADATA } from '../../platform/projector/projector-application.ts';

const REACTION = 'alert-detection';

/** Probes and metrics show the last check; on a busy machine the next one comes late. */
const PATIENTLY = { timeout: 30_000 };

describe('a stream that a reaction cannot process', () => {
  let app: TestApp;
  let acme: TestTenant;
  let stream: string;
  beforeEach(async () => {
    app = await startApp();
    acme = await app.newTenant();
    stream = deviceDayStream(acme.tenantId, randomUUID(), '2026-11-22');
    // An event that violates its contract, as after damage in the store.
    for (let revision = -1n; revision < 1n; revision += 1n) {
      await app.services.store.append({
        tenantId: acme.tenantId,
        stream,
        expectedRevision: revision,
        events: [
          { id: randomUUID(), type: 'TelemetryRecorded', version: 1, data: '{"deviceId":5}', metadata: METADATA },
        ],
        claim: [],
        release: [],
      });
    }
    await app.settled();
  });
  afterEach(() => app.close());

  const parked = async () => (await app.services.projector.deadLetters.list()).filter(({ name }) => name === REACTION);
  const gauge = async () =>
    (await app.anonymous.get('/metrics')).text.match(
      /^castellan_parked_streams\{model="alert-detection"\} (\d+)$/m,
    )?.[1];
  const audited = async (action: string) =>
    (await acme.admin.get(`/api/v1/admin/audit-log?action=${action}`)).body.auditLogs as {
      action: string;
      actorType: string;
      metadata: unknown;
    }[];
  const skip = (over: Partial<{ name: string; stream: string; reason: string }> = {}) =>
    skipParkedEvents(app.services, { name: REACTION, stream, reason: 'a device sent garbage', ...over });

  it('degrades /health by name, is counted in /metrics, and does not affect readiness', async () => {
    expect((await parked()).map(({ stream: one, events }) => [one, events])).toEqual([[stream, 2]]);
    const projections = {
      status: 'degraded',
      message: expect.stringMatching(/parked streams in: .*alert-detection/) as string,
    };
    await expect
      .poll(() => app.anonymous.get('/health'), PATIENTLY)
      .toMatchObject({ status: 200, body: { status: 'degraded', dependencies: { projections } } });
    await expect.poll(gauge, PATIENTLY).toBe('1');
    await expect
      .poll(() => app.anonymous.get('/ready'), PATIENTLY)
      .toMatchObject({ status: 200, body: { ready: true } });
  });

  it('continues after a skip, which is recorded with the tenant: what was skipped, by whom and why', async () => {
    const [skipped] = await skip();
    expect(skipped).toMatchObject({ stream, events: 2, eventTypes: ['TelemetryRecorded'] });
    await eventually('it is let go of', async () => (await parked()).length === 0);
    await expect.poll(gauge, PATIENTLY).toBeUndefined();
    await app.settled();
    const [entry] = await audited('projection.parked_events_skipped');
    expect(entry).toMatchObject({ action: 'projection.parked_events_skipped' });
    expect(JSON.stringify(entry)).toContain('a device sent garbage');
    expect(JSON.stringify(entry)).toContain(stream);
    expect((await acme.admin.get('/api/v1/admin/audit-log/verify')).body.valid).toBe(true);
    // Another tenant does not see it.
    const other = await app.newTenant();
    expect(
      (await other.admin.get('/api/v1/admin/audit-log?action=projection.parked_events_skipped')).body.auditLogs,
    ).toEqual([]);
  });

  it('is processed again by a retry, which is recorded, and stays parked while the cause remains', async () => {
    const asked = await retryParkedEvents(app.services, { name: REACTION, stream, reason: 'deployed a fix' });
    expect(asked.map(({ events }) => events)).toEqual([2]);
    await eventually(
      'it was tried',
      async () =>
        (
          await app.services.database.owner.query('select from parked_events where name = $1 and retry_asked', [
            REACTION,
          ])
        ).rowCount === 0,
    );
    expect((await parked()).map(({ events }) => events)).toEqual([2]);
    await app.settled();
    expect(JSON.stringify(await audited('projection.parked_events_retried'))).toContain('deployed a fix');
  });

  it.each([
    ['an unknown name', { name: 'no-such-reaction' }, /no reaction is called no-such-reaction/],
    ['a stream that is not parked', { stream: 'alert-x' }, /alert-x is not parked in alert-detection/],
    ['the audit log', { name: 'audit_log' }, /audit_log must be complete: none of its events can be skipped/],
    ['a read model', { name: 'alerts' }, /alerts is a read model, which must match the log: fix its fold/],
    ['no reason', { reason: ' ' }, /--reason: must be 1 to 500 characters long/],
  ])('is not skipped with %s', async (_what, over, words) => {
    await expect(skip(over)).rejects.toThrow(words);
    await app.settled();
    expect((await parked()).map(({ events }) => events)).toEqual([2]);
    expect(await audited('projection.parked_events_skipped')).toEqual([]);
  });

  it('is not retried under an unknown name, or if the stream is not parked', async () => {
    await expect(retryParkedEvents(app.services, { name: 'no-such-model' })).rejects.toThrow(
      /no read model or reaction is called no-such-model/,
    );
    await expect(retryParkedEvents(app.services, { name: 'alerts', stream: 'alert-x' })).rejects.toThrow(
      /alert-x is not parked in alerts/,
    );
    expect(await retryParkedEvents(app.services, { name: 'when-erasure-requested-carry-it-out' })).toEqual([]);
  });
});
