import { describe, expect, it } from 'vitest';
import { adminAvailability } from '../../../projections/admins/admin-availability.ts';
import { onCallOverrides } from '../../../projections/on-call/on-call-overrides.ts';
import { onCallVersions } from '../../../projections/on-call/on-call-versions.ts';
import { history, NOW, rowsAfter } from '../../dsl/given.ts';

const scheduleId = '0198a000-0000-7000-8000-000000000001';
const overrideId = '0198a000-0000-7000-8000-000000000002';
const adminId = '0198a000-0000-7000-8000-000000000003';
const iso = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString();
const content = (name: string) => ({
  name,
  timezone: 'UTC',
  rotationType: 'weekly' as const,
  rotationDays: null,
  handoffTime: '09:00',
  startDate: '2026-01-05',
  participants: [adminId],
  isEnabled: true,
  escalationMinutes: null,
  escalationRounds: 1,
});

describe('the history of on-call schedules', () => {
  it('keeps every version with its times, also after the deletion', () => {
    const events = history(
      {
        type: 'OnCallScheduleCreated',
        data: { scheduleId, slot: 1, version: 1, effectiveAt: iso(1), content: content('First') },
      },
      {
        type: 'OnCallScheduleUpdated',
        data: { scheduleId, version: 2, effectiveAt: iso(2), content: content('Second') },
      },
      { type: 'OnCallScheduleDeleted', data: { scheduleId, version: 3, effectiveAt: iso(3) } },
    );
    for (const batch of [1, 2, 3])
      expect(rowsAfter(onCallVersions, events, batch)).toMatchObject([
        { schedule_id: scheduleId, version: 1, content: content('First'), effective_at: iso(1), ended_at: iso(2) },
        { schedule_id: scheduleId, version: 2, content: content('Second'), effective_at: iso(2), ended_at: iso(3) },
      ]);
  });

  it('keeps removed overrides', () => {
    const events = history(
      {
        type: 'OnCallOverrideCreated',
        data: {
          scheduleId,
          overrideId,
          adminUserId: adminId,
          startsAt: iso(0),
          endsAt: iso(60),
          reason: 'ill',
          effectiveAt: iso(1),
        },
      },
      { type: 'OnCallOverrideRemoved', data: { scheduleId, overrideId, effectiveAt: iso(9) } },
    );
    expect(rowsAfter(onCallOverrides, events)).toMatchObject([
      { created_at: iso(1), removed_at: iso(9), reason: 'ill' },
    ]);
  });

  it('keeps from when on an account could be used', () => {
    const events = history(
      { type: 'AdminSuspended', data: { adminId } },
      { type: 'AdminReinstated', data: { adminId } },
      { type: 'AdminUserDeleted', data: { adminId } },
    );
    expect(rowsAfter(adminAvailability, events)).toMatchObject([
      { admin_id: adminId, since: iso(1), availability: 'suspended' },
      { admin_id: adminId, since: iso(2), availability: 'active' },
      { admin_id: adminId, since: iso(3), availability: 'deleted' },
    ]);
  });
});
