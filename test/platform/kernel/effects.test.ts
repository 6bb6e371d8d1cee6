import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { raiseAlert, type RaiseAlert } from '../../../commands/alerts/raise-alert.ts';
import { revokeDevice } from '../../../commands/devices/revoke-device.ts';
import { declareJob } from '../../../src/platform/jobs/job.ts';
import type { Jobs, Schedule } from '../../../src/platform/jobs/jobs.ts';
import { enqueue } from '../../../src/platform/kernel/job.ts';
import { effect, type Effect } from '../../../src/platform/kernel/reaction.ts';

const DEVICE = '55555555-5555-4555-8555-555555555551';
const USER = '44444444-4444-4444-8444-444444444444';

const mailReport = declareJob({
  name: 'mail-report',
  data: z.object({ to: z.string(), copies: z.int().default(1) }),
  attempts: 1,
  backoff: [],
});

/** Never called: `npm run check` fails if a marked line compiles. */
export function doesNotCompile(jobs: Jobs, alert: RaiseAlert): void {
  const { title: _title, ...untitled } = alert;
  // @ts-expect-error a value that the command does not know
  effect(revokeDevice, { deviceId: DEVICE, reason: 'no_reason', ofUserId: USER });
  // @ts-expect-error a missing field
  effect(raiseAlert, untitled);
  // @ts-expect-error a field that the command does not have
  effect(raiseAlert, { ...untitled, title: 'One', heading: 'Two' });
  // @ts-expect-error an effect that no constructor has checked
  const unchecked: Effect = { command: revokeDevice, input: { deviceId: DEVICE } };
  // @ts-expect-error the same for a job
  const uncheckedJob: Effect = { job: mailReport, data: {} };
  // @ts-expect-error a job named by a string
  enqueue('mail-report', { to: 'Ada' });
  // @ts-expect-error data of another type
  enqueue(mailReport, { to: 7 });
  // @ts-expect-error a field that the job does not have
  enqueue(mailReport, { to: 'Ada', subject: 'Report' });
  // @ts-expect-error a job named by a string, in a route
  void jobs.enqueue('mail-report', { to: 'Ada' });
  // @ts-expect-error data that does not fit, in a route
  void jobs.enqueue(mailReport, { who: 'Ada' });
  // @ts-expect-error a schedule whose data no constructor has checked
  const schedule: Schedule = { run: { job: mailReport, data: {} }, recurrence: { everyMs: 1_000 } };
  void [unchecked, uncheckedJob, schedule];
}

describe('an effect', () => {
  it('holds its command and the input', () => {
    const input = { deviceId: DEVICE, reason: 'user_deleted', ofUserId: USER } as const;
    expect(effect(revokeDevice, input)).toEqual({ command: revokeDevice, input });
  });

  it('holds its job and the data as given: defaults are filled in when the job runs', () => {
    expect(enqueue(mailReport, { to: 'Ada' })).toEqual({ job: mailReport, data: { to: 'Ada' } });
  });
});
