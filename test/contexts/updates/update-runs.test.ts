import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginUpdate } from '../../../commands/updates/begin-update.ts';
import { stageUpdate } from '../../../commands/updates/stage-update.ts';
import { startUpdateCommand } from '../../../commands/updates/start-update-command.ts';
import { softwareUpdate, softwareUpdateStream } from '../../../src/contexts/updates/domain/software-update.ts';
import type { UpdateSettings } from '../../../src/contexts/updates/domain/update-settings.ts';
import { UpdateRuns } from '../../../src/contexts/updates/update-runs.ts';
import { system } from '../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../src/platform/kernel/failure.ts';
import { INSTALLATION } from '../../../src/platform/kernel/ids.ts';
import { startApp, testConfig, type TestApp } from '../../dsl/app.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const execution = { tenantId: INSTALLATION, actor: system('test') };
const MINUTE = 60_000;

describe('an update whose process ended', () => {
  let app: TestApp;
  let next = 0;
  /** The background jobs of the application do not run, as after the end of its process. */
  beforeAll(async () => void (app = await startApp({ role: 'api' })));
  afterAll(() => app.close());

  const state = () => app.services.loader.load(softwareUpdate, softwareUpdateStream());

  /** Begins an update to a new version, as the route does. */
  async function begun(): Promise<{ updateId: string; version: string }> {
    next += 1;
    const version = `1.${next}.0`;
    const { executor, updateBundles } = app.services;
    const stored = await updateBundles.put(crypto.randomUUID(), Readable.from([randomBytes(100)]));
    const bundle = { ...stored, version, isSigned: true };
    orThrow(await executor.execute(stageUpdate, { bundle, runningVersion: '0.1.0' }, execution));
    const apply = { action: 'apply', runningVersion: '0.1.0', hasCommand: true } as const;
    orThrow(await executor.execute(beginUpdate, apply, execution));
    return { updateId: (await state()).underWay!.updateId, version };
  }
  const started = async (updateId: string) =>
    orThrow(await app.services.executor.execute(startUpdateCommand, { updateId, withinMs: MINUTE }, execution));

  /** What a process does that starts now. */
  const processOf = (over: Partial<UpdateSettings>) =>
    new UpdateRuns({
      executor: app.services.executor,
      aggregates: app.services.loader,
      bundles: app.services.updateBundles,
      settings: { ...testConfig('').updates, ...over },
      dataDir: app.config.dataDir,
    });

  it('has succeeded if a process with the new version starts after the command', async () => {
    const { updateId, version } = await begun();
    await started(updateId);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await processOf({ runningVersion: version }).settle();
    expect(await state()).toMatchObject({ resting: 'applied', underWay: null, installedVersion: version });
  });

  it('is left alone while its command may still run', async () => {
    const { updateId, version } = await begun();
    const before = processOf({ runningVersion: version });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await started(updateId);
    // This process had the version before the command ran, as in a rollback before a restart.
    await before.settle();
    await processOf({}).settle();
    expect((await state()).underWay?.updateId).toBe(updateId);
    await processOf({}).settle(Date.now() + 2 * MINUTE);
    expect(await state()).toMatchObject({ resting: 'failed', underWay: null });
  });

  it('has failed if no process took its job', async () => {
    await begun();
    await processOf({}).settle(Date.now() + 9 * MINUTE);
    expect((await state()).underWay).not.toBeNull();
    await processOf({}).settle(Date.now() + 11 * MINUTE);
    expect(await state()).toMatchObject({ resting: 'failed', underWay: null });
  });

  it('runs the command once, however often the job runs', async () => {
    const folder = scratchFolder('update-once');
    const script = join(folder, 'update.sh');
    writeFileSync(script, `#!/bin/sh\necho ran >> ${join(folder, 'runs')}\n`);
    chmodSync(script, 0o755);
    const { updateId } = await begun();
    const runs = [1, 2, 3].map(() => processOf({ command: [script] }).run(updateId, updateId));
    await Promise.all(runs);
    await processOf({ command: [script] }).run(updateId, updateId);
    expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('ran\n');
    expect(await state()).toMatchObject({ resting: 'applied', underWay: null });
  });

  it('sweeps what uploads left behind after an hour, and keeps the bundles in use', async () => {
    const { updateBundles } = app.services;
    const left = await updateBundles.put(crypto.randomUUID(), Readable.from([randomBytes(100)]));
    const { current } = await state();
    const path = (bundleId: string) => join(app.config.dataDir, 'objects', 'updates', bundleId, '000000');
    await processOf({}).settle();
    expect(existsSync(path(left.bundleId))).toBe(true);
    const before = (Date.now() - 61 * MINUTE) / 1_000;
    for (const bundleId of [left.bundleId, current!.bundleId]) utimesSync(path(bundleId), before, before);
    await processOf({}).settle();
    expect([left.bundleId, current!.bundleId].map((bundleId) => existsSync(path(bundleId)))).toEqual([false, true]);
  });
});
