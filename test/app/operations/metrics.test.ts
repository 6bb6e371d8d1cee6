import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../dsl/app.ts';
import { channelNames } from '../../../src/contexts/notifications/domain/message.ts';
import { enrolledDevice } from '../../dsl/enrolled-device.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const placeOf = (path: string): URL => new URL(`../../../deploy/${path}`, import.meta.url);
const read = (path: string): string => readFileSync(placeOf(path), 'utf8');
const RULES = 'prometheus/castellan.rules.yml';
const BOARD = 'grafana/castellan.json';
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const withPromtool = (title: string): string => (hasPromtool ? title : `${title} (skipped: no promtool command)`);
/** Suffixes that a histogram adds to its name. */
const SERIES = /_(?:bucket|count|sum)$/;

describe('the metrics', () => {
  let app: TestApp;
  let text: string;
  beforeAll(async () => {
    app = await startApp();
    const acme = await app.newTenant();
    const device = await enrolledDevice(app, acme);
    await device.client.post('/api/v1/ext/events', { events: [{ kind: 'nonsense' }] });
    device.client.close();
    await app.settled();
    text = (await app.anonymous.get('/metrics')).text;
  });
  afterAll(() => app.close());

  const valueOf = (series: string): number | undefined => {
    const line = text.split('\n').find((each) => each.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };

  it('say what is running, what ends and what is in use', () => {
    expect(text).toMatch(/^castellan_build_info\{version="[^"]+",node="v\d+[^"]*"\} 1$/m);
    const inAMonth = Date.now() / 1_000 + 30 * 86_400;
    expect(valueOf('castellan_tls_certificate_expiry_timestamp_seconds')).toBeGreaterThan(inAMonth);
    expect(valueOf('castellan_license_expiry_timestamp_seconds')).toBeGreaterThan(Date.now() / 1_000);
    expect(valueOf('castellan_database_connections{pool="reads",state="waiting"}')).toBe(0);
    expect(valueOf('castellan_gauges_current')).toBe(1);
  });

  it('count observations and appends by their outcome', () => {
    expect(valueOf('castellan_telemetry_observations_total{outcome="rejected"}')).toBeGreaterThanOrEqual(1);
    expect(valueOf('castellan_event_store_appends_total{outcome="appended"}')).toBeGreaterThan(0);
  });

  it.each([RULES, BOARD])('have every name that deploy/%s uses', (path) => {
    const used = [...new Set(read(path).match(/castellan_[a-z0-9_]+/g))].map((name) => name.replace(SERIES, ''));
    expect(used.length).toBeGreaterThan(8);
    const known = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!));
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });

  // The counts are of the process, and other files of this worker may have added to them.
  it('have the series of messages given up before there is one: a series that begins at 1 has not increased', () => {
    for (const channel of channelNames)
      expect(valueOf(`castellan_delivery_exhausted_total{channel="${channel}"}`), channel).toBeDefined();
  });

  it.skipIf(!hasPromtool)(withPromtool('raise the alerts of test/fixtures/alert-rules.test.yml'), () => {
    const folder = scratchFolder('alert-rules');
    const tests = readFileSync(new URL('../../fixtures/alert-rules.test.yml', import.meta.url), 'utf8');
    const file = join(folder, 'test.yml');
    writeFileSync(file, tests.replace('RULES', fileURLToPath(placeOf(RULES))));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
    rmSync(folder, { recursive: true });
  });

  it.skipIf(!hasPromtool)(withPromtool('are accepted by promtool, and so are the alert rules'), () => {
    const metrics = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect([metrics.status, metrics.stdout + metrics.stderr]).toEqual([0, '']);
    const rules = spawnSync('promtool', ['check', 'rules', fileURLToPath(placeOf(RULES))], { encoding: 'utf8' });
    expect([rules.status, rules.stdout + rules.stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
