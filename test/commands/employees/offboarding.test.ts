import { describe, expect, it } from 'vitest';
import { endOffboarding } from '../../../commands/employees/end-offboarding.ts';
import { recordOffboardingSteps } from '../../../commands/employees/record-offboarding-steps.ts';
import { startOffboarding } from '../../../commands/employees/start-offboarding.ts';
import { revokeUnblockKey } from '../../../commands/policies/revoke-unblock-key.ts';
import { whenPersonLeavesOffboardThem } from '../../../src/contexts/employees/reactions/when-person-leaves-offboard-them.ts';
import {
  offboardingSteps,
  type LeavingCause,
  type OffboardingEvent,
  type OffboardingStep,
} from '../../../src/contexts/employees/domain/offboarding.ts';
import { context, given, NOW, recorded } from '../../dsl/given.ts';

const USER = '44444444-4444-4444-8444-444444444444';
const CAUSE = '77777777-7777-4777-8777-777777777777';
const KEY = '88888888-8888-4888-8888-888888888888';
const offboardingId = context().id;
const source = { kind: 'scim', id: '66666666-6666-4666-8666-666666666661' } as const;
const causedAt = new Date(NOW).toISOString();
const hourLater = new Date(NOW + 3_600_000).toISOString();
const departure = (cause: LeavingCause) =>
  ({ userId: USER, cause, causeEventId: CAUSE, causedAt, by: { kind: 'scim', id: null }, source }) as const;
const grace = { graceMinutes: 60 };

const started = (cause: LeavingCause, certificatesEndAt: string): OffboardingEvent => ({
  type: 'OffboardingStarted',
  data: { ...departure(cause), offboardingId, certificatesEndAt },
});
const completed = (step: OffboardingStep): OffboardingEvent => ({
  type: 'OffboardingStepCompleted',
  data: { offboardingId, userId: USER, step, count: 1 },
});
const ended: OffboardingEvent = { type: 'OffboardingEnded', data: { offboardingId, userId: USER } };
const allSteps = [
  ...offboardingSteps.map(completed),
  { type: 'OffboardingCompleted', data: { offboardingId, userId: USER } },
] as OffboardingEvent[];

describe('an offboarding', () => {
  it('gives the certificates of a deactivated person a time of grace, and those of others none', () => {
    given().when(startOffboarding, departure('deactivated'), grace).then(started('deactivated', hourLater));
    given().when(startOffboarding, departure('unprovisioned'), grace).then(started('unprovisioned', causedAt));
    given().when(startOffboarding, departure('deleted'), grace).then(started('deleted', causedAt));
  });

  it('is one for a departure, however often it is said', () => {
    given(started('deactivated', hourLater)).when(startOffboarding, departure('deactivated'), grace).thenNothing();
    given(started('deleted', causedAt)).when(startOffboarding, departure('unprovisioned'), grace).thenNothing();
    given(started('deactivated', hourLater), ...allSteps)
      .when(startOffboarding, departure('deleted'), grace)
      .thenNothing();
  });

  it('waits no longer once a stronger cause follows', () => {
    given(started('deactivated', hourLater))
      .when(startOffboarding, departure('unprovisioned'), grace)
      .then({
        type: 'OffboardingHastened',
        data: { offboardingId, userId: USER, cause: 'unprovisioned', certificatesEndAt: causedAt },
      });
  });

  it('begins anew after a return', () => {
    given(started('deactivated', hourLater)).when(endOffboarding, { userId: USER }).then(ended);
    given().when(endOffboarding, { userId: USER }).thenNothing();
    given(started('deactivated', hourLater), ended).when(endOffboarding, { userId: USER }).thenNothing();
    given(started('deactivated', hourLater), ended)
      .when(startOffboarding, departure('deactivated'), grace)
      .then(started('deactivated', hourLater));
  });

  it('takes each step once, and is complete after the last one', () => {
    const take = (...steps: readonly OffboardingStep[]) => ({
      userId: USER,
      offboardingId,
      steps: steps.map((step) => ({ step, count: 1 })),
    });
    const begun = started('deleted', causedAt);
    given(begun).when(recordOffboardingSteps, take('unblock_keys')).then(completed('unblock_keys'));
    given(begun, completed('unblock_keys')).when(recordOffboardingSteps, take('unblock_keys')).thenNothing();
    given(begun, ...offboardingSteps.slice(0, -1).map(completed))
      .when(recordOffboardingSteps, take('device_certificates'))
      .thenTypes('OffboardingStepCompleted', 'OffboardingCompleted');
    given(begun, completed('unblock_keys'))
      .when(recordOffboardingSteps, take(...offboardingSteps))
      .then(...offboardingSteps.filter((step) => step !== 'unblock_keys').map(completed), {
        type: 'OffboardingCompleted',
        data: { offboardingId, userId: USER },
      });
    given(begun)
      .when(recordOffboardingSteps, take(...offboardingSteps))
      .then(...allSteps);
    given(begun, ...allSteps)
      .when(recordOffboardingSteps, take(...offboardingSteps))
      .thenNothing();
    given(begun, ended).when(recordOffboardingSteps, take('unblock_keys')).thenNothing();
    given(begun)
      .when(recordOffboardingSteps, { ...take('unblock_keys'), offboardingId: CAUSE })
      .thenNothing();
  });
});

describe('an unblock key', () => {
  const key = {
    type: 'UnblockKeyCreated',
    data: {
      userDeactivations: 0,
      unblockKeyId: KEY,
      personId: USER,
      domain: 'shop.example',
      userId: USER,
      deviceId: null,
      reason: 'because',
      expiresAt: hourLater,
    },
  } as const;
  const revoked = { type: 'UnblockKeyRevoked', data: { unblockKeyId: KEY } } as const;

  it('is revoked once', () => {
    given(key).when(revokeUnblockKey, { unblockKeyId: KEY }).then(revoked);
    given(key, revoked).when(revokeUnblockKey, { unblockKeyId: KEY }).thenNothing();
    given().when(revokeUnblockKey, { unblockKeyId: KEY }).thenRefused('notFound');
  });
});

describe('the reaction to a departure', () => {
  const on = whenPersonLeavesOffboardThem.on;
  const commandsOf = (steps: readonly object[]) =>
    steps.flatMap((step) =>
      ((step as { effects?: readonly object[] }).effects ?? []).flatMap((each) =>
        'command' in each ? [(each.command as { name: string }).name] : [],
      ),
    );

  it('starts for everybody who leaves, and ends for everybody who returns', () => {
    const update = (isActive?: boolean) =>
      commandsOf(
        on.EmployeeUpdated!(
          recorded(
            { type: 'EmployeeUpdated', data: { userId: USER, ...(isActive === undefined ? {} : { isActive }) } },
            1,
          ),
        ),
      );
    expect([update(false), update(true), update()]).toEqual([['StartOffboarding'], ['EndOffboarding'], []]);
    const unlinked = (how: 'left' | 'ended') =>
      commandsOf(on.EmployeeUnlinked!(recorded({ type: 'EmployeeUnlinked', data: { userId: USER, source, how } }, 1)));
    expect([unlinked('left'), unlinked('ended')]).toEqual([['StartOffboarding'], []]);
    expect(commandsOf(on.EmployeeDeleted!(recorded({ type: 'EmployeeDeleted', data: { userId: USER } }, 1)))).toEqual([
      'StartOffboarding',
    ]);
  });
});
