import { describe, it } from 'vitest';
import { beginUpdateCheck } from '../../../commands/updates/begin-update-check.ts';
import { beginUpdate } from '../../../commands/updates/begin-update.ts';
import { endUpdateCheck } from '../../../commands/updates/end-update-check.ts';
import { endUpdate } from '../../../commands/updates/end-update.ts';
import { stageUpdate } from '../../../commands/updates/stage-update.ts';
import { startUpdateCommand } from '../../../commands/updates/start-update-command.ts';
import { softwareUpdateEvents } from '../../../src/contexts/updates/domain/events.ts';
import { context, historiesOf, NOW } from '../../dsl/given.ts';

const { given } = historiesOf([softwareUpdateEvents]);
const { id: updateId } = context();
const bundleId = '0198a000-0000-7000-8000-000000000001';
const iso = (moment: number) => new Date(moment).toISOString();
const SECOND = 1_000;

const bundleOf = (version: string) => ({
  bundleId,
  version,
  sha256: 'a'.repeat(64),
  bytes: 10,
  pieces: 1,
  isSigned: true,
});
const staged = (version: string) => ({ type: 'UpdateStaged' as const, data: { bundle: bundleOf(version) } });
const move = { updateId, action: 'apply' as const, fromVersion: '1.0.0', toVersion: '1.1.0' };
const begun = {
  type: 'UpdateBegun' as const,
  data: { ...move, bundle: bundleOf('1.1.0'), begunAt: iso(NOW), until: iso(NOW + 600 * SECOND) },
};
const ended = (hasSucceeded: boolean) => ({
  type: 'UpdateEnded' as const,
  data: { ...move, hasSucceeded, endedAt: iso(NOW), exitCode: null, reason: null, output: null },
});
const started = {
  type: 'UpdateCommandStarted' as const,
  data: { updateId, startedAt: iso(NOW), until: iso(NOW + 75 * SECOND) },
};
const applying = { action: 'apply' as const, runningVersion: '1.0.0', hasCommand: true };
const rolling = { ...applying, action: 'rollback' as const };
const outcome = { updateId, hasSucceeded: true, exitCode: 0, reason: null, output: null };

describe('staging', () => {
  it('takes a newer version than the one that runs, and than the one that was installed', () => {
    given()
      .when(stageUpdate, { bundle: bundleOf('1.1.0'), runningVersion: '1.0.0' })
      .then(staged('1.1.0'));
    given()
      .when(stageUpdate, { bundle: bundleOf('1.0.0'), runningVersion: '1.0.0' })
      .thenRefused('conflict');
    // Applied, but this process was not replaced yet.
    given(staged('1.1.0'), begun, ended(true))
      .when(stageUpdate, { bundle: bundleOf('1.1.0'), runningVersion: '1.0.0' })
      .thenRefused('conflict');
  });

  it('waits for the end of an update', () => {
    given(staged('1.1.0'), begun)
      .when(stageUpdate, { bundle: bundleOf('1.2.0'), runningVersion: '1.0.0' })
      .thenRefused('conflict');
  });
});

describe('applying', () => {
  it('begins, one at a time', () => {
    given(staged('1.1.0')).when(beginUpdate, applying).then(begun);
    given(staged('1.1.0'), begun).when(beginUpdate, applying).thenRefused('conflict');
    given().when(beginUpdate, applying).thenRefused('conflict');
  });

  it('refuses a version that was installed by other means since', () => {
    given(staged('1.1.0'))
      .when(beginUpdate, { ...applying, runningVersion: '1.1.0' })
      .thenRefused('conflict');
  });

  it('is done at once where the operator has no command', () => {
    given(staged('1.1.0'))
      .when(beginUpdate, { ...applying, hasCommand: false })
      .then(begun, ended(true));
  });

  it('can be repeated after a failure, but not after a success', () => {
    given(staged('1.1.0'), begun, ended(false)).when(beginUpdate, applying).then(begun);
    given(staged('1.1.0'), begun, ended(true)).when(beginUpdate, applying).thenRefused('conflict');
  });

  it('can be rolled back after a success, once, and not after a failure', () => {
    const back = { ...begun.data, action: 'rollback' as const, fromVersion: '1.1.0', toVersion: '1.0.0', bundle: null };
    const done = { ...ended(true).data, action: 'rollback' as const, fromVersion: '1.1.0', toVersion: '1.0.0' };
    given(staged('1.1.0'), begun, ended(true)).when(beginUpdate, rolling).then({ type: 'UpdateBegun', data: back });
    given(staged('1.1.0'), begun, ended(false)).when(beginUpdate, rolling).thenRefused('conflict');
    given(staged('1.1.0'), begun, ended(true), { type: 'UpdateBegun', data: back }, { type: 'UpdateEnded', data: done })
      .when(beginUpdate, rolling)
      .thenRefused('conflict');
  });
});

describe('the command of the operator', () => {
  it('is started once, with a deadline', () => {
    const input = { updateId, withinMs: 60 * SECOND };
    given(staged('1.1.0'), begun).when(startUpdateCommand, input).then(started);
    given(staged('1.1.0'), begun, started).when(startUpdateCommand, input).then();
    given(staged('1.1.0'), begun, ended(true)).when(startUpdateCommand, input).then();
  });

  it('has one outcome: the first one', () => {
    given(staged('1.1.0'), begun, started)
      .when(endUpdate, outcome)
      .then({ type: 'UpdateEnded', data: { ...ended(true).data, exitCode: 0 } });
    given(staged('1.1.0'), begun, started, ended(false)).when(endUpdate, outcome).then();
  });
});

describe('a check', () => {
  const checkId = '0198a000-0000-7000-8000-000000000002';
  const begins = (at: number) => ({
    type: 'UpdateCheckBegun' as const,
    data: { checkId: bundleId, until: iso(at + 30 * SECOND) },
  });
  const found = { version: '1.1.0', releaseNotes: null };

  it('is made by one process at a time, and given up after 30 seconds', () => {
    given(begins(NOW - 29 * SECOND))
      .when(beginUpdateCheck, { checkId })
      .then();
    given(begins(NOW - 30 * SECOND))
      .when(beginUpdateCheck, { checkId })
      .then({ type: 'UpdateCheckBegun', data: { checkId, until: iso(NOW + 30 * SECOND) } });
  });

  it('that was given up does not count', () => {
    given(begins(NOW)).when(endUpdateCheck, { checkId, found, failure: null }).then();
    given(begins(NOW))
      .when(endUpdateCheck, { checkId: bundleId, found, failure: null })
      .then({ type: 'UpdateCheckEnded', data: { checkId: bundleId, checkedAt: iso(NOW), found, failure: null } });
  });
});
