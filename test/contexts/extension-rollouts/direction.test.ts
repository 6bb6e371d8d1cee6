import { describe, expect, it } from 'vitest';
import {
  countedFor,
  directionOf,
  type DirectedDevice,
  type StartedRollout,
} from '../../../src/contexts/extension-rollouts/domain/direction.ts';

const rollout = (over: Partial<StartedRollout> = {}): StartedRollout => ({
  rolloutId: 'r',
  status: 'active',
  salt: 'a',
  version: '2.1.0',
  browserType: null,
  rollbackVersion: '2.0.0',
  returnsOnHalt: true,
  stages: [{ percent: 0, groupIds: ['pilots'], soakHours: null }],
  stage: 0,
  round: 1,
  ...over,
});
const device = (version: string, over: Partial<DirectedDevice> = {}): DirectedDevice => ({
  deviceId: 'd',
  groupIds: ['pilots'],
  browserType: 'chrome',
  version,
  ...over,
});
const update = (version: string) => ({ action: 'update', version });
const keep = (version: string) => ({ action: 'keep', version });
const back = (version: string) => ({ action: 'return', version });
const others = { groupIds: [] };

describe('the direction of a device', () => {
  it('is missing without a rollout of its browser', () => {
    expect(directionOf(device('2.0.0'), [])).toBeUndefined();
    expect(directionOf(device('2.0.0'), [rollout({ browserType: 'firefox' })])).toBeUndefined();
    expect(directionOf(device('2.0.0', { browserType: null }), [rollout({ browserType: 'chrome' })])).toBeUndefined();
  });

  it.each([
    ['active', '2.0.0', update('2.1.0'), keep('2.0.0')],
    ['active', '2.1.0', keep('2.1.0'), keep('2.1.0')],
    ['active', '2.2.0', keep('2.2.0'), keep('2.2.0')],
    ['paused', '2.0.0', keep('2.0.0'), keep('2.0.0')],
    ['paused', '2.1.0', keep('2.1.0'), keep('2.1.0')],
    ['halted', '2.0.0', keep('2.0.0'), keep('2.0.0')],
    ['halted', '2.1.0', back('2.0.0'), back('2.0.0')],
    ['rolled_back', '2.1.0', back('2.0.0'), back('2.0.0')],
    ['rolled_back', '2.0.0', keep('2.0.0'), keep('2.0.0')],
    ['completed', '2.0.0', update('2.1.0'), update('2.1.0')],
    ['completed', '2.2.0', keep('2.2.0'), keep('2.2.0')],
  ] as const)('of a rollout that is %s, with version %s', (status, version, included, excluded) => {
    expect(directionOf(device(version), [rollout({ status })])).toEqual(included);
    expect(directionOf(device(version, others), [rollout({ status })])).toEqual(excluded);
  });

  it('does not lead back from a halt before somebody decides, if the rollout says so', () => {
    expect(directionOf(device('2.1.0'), [rollout({ status: 'halted', returnsOnHalt: false })])).toEqual(keep('2.1.0'));
  });

  it('never leads back without a version to return to', () => {
    const ended = rollout({ status: 'rolled_back', rollbackVersion: null });
    expect(directionOf(device('2.1.0'), [ended])).toEqual(keep('2.1.0'));
  });

  it('is that of the rollout before, where the newest one does not move the device', () => {
    const before = rollout({ status: 'completed', version: '2.0.0', rollbackVersion: null });
    for (const status of ['active', 'paused', 'halted', 'rolled_back'] as const)
      expect(directionOf(device('1.9.0', others), [rollout({ status }), before])).toEqual(update('2.0.0'));
  });

  it('compares versions by number', () => {
    expect(directionOf(device('2.9.0'), [rollout({ version: '2.10.0' })])).toEqual(update('2.10.0'));
  });
});

describe('what a heartbeat counts for', () => {
  it('is the active rollout of the browser, on the side of the version', () => {
    expect(countedFor(device('2.1.0', others), [rollout()])).toEqual({ rolloutId: 'r', round: 1, isCandidate: true });
    expect(countedFor(device('1.0.0', others), [rollout()])).toEqual({ rolloutId: 'r', round: 1, isCandidate: false });
  });
  it('is nothing while no rollout is active', () => {
    for (const status of ['paused', 'halted', 'completed', 'rolled_back'] as const)
      expect(countedFor(device('2.1.0'), [rollout({ status })])).toBeNull();
    expect(countedFor(device('2.1.0'), [rollout({ browserType: 'edge' })])).toBeNull();
  });
});
