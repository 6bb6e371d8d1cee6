import { randomUUID } from 'node:crypto';
import ICAL from 'ical.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';

const BASE = '/api/v1/admin/on-call';
const SCHEDULES = `${BASE}/schedules`;
const OVERRIDES = `${BASE}/overrides`;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let app: TestApp;
let tenant: TestTenant;
let ann: string;
let bo: string;
beforeAll(async () => {
  app = await sharedApp();
  tenant = await app.newTenant();
  ann = tenant.adminId;
  bo = (await app.adminWithRole(tenant, 'analyst')).adminId;
  await app.settled();
});
afterAll(() => app.close());

const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
const dayAhead = (days: number) => ahead(days * DAY).slice(0, 10);
const newSchedule = async (over: object = {}, on = tenant) =>
  (await on.admin.post(SCHEDULES, { name: `S ${randomUUID()}`, participants: [ann], startDate: dayAhead(-9), ...over }))
    .body;
const current = async (scheduleId: string, at?: string) =>
  (await tenant.admin.get(`${BASE}/current?schedule_id=${scheduleId}${at ? `&at=${encodeURIComponent(at)}` : ''}`))
    .body;
const peopleNow = async (scheduleId: string, at?: string) =>
  (await current(scheduleId, at)).onCall.map((shift: { adminUserId: string }) => shift.adminUserId);
const reasonsNow = async (scheduleId: string, at?: string) =>
  (await current(scheduleId, at)).uncovered.map((schedule: { reason: string }) => schedule.reason);

describe('on-call schedules (OP-187)', () => {
  it('are created, read, listed, changed in part and deleted', async () => {
    const own = await app.newTenant();
    const body = {
      name: ' Primary ',
      timezone: 'Europe/Paris',
      rotationType: 'custom',
      rotationDays: 3,
      handoffTime: '08:30',
      startDate: '2026-01-05',
      participants: [own.adminId],
    };
    const created = await own.admin.post(SCHEDULES, body);
    expect([created.status, created.body]).toEqual([
      201,
      {
        ...body,
        name: 'Primary',
        id: expect.any(String),
        isEnabled: true,
        escalationMinutes: null,
        escalationRounds: 1,
        overrides: [],
        calendarSharedAt: null,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ]);
    const path = `${SCHEDULES}/${created.body.id}`;
    expect((await own.admin.get(path)).body).toEqual(created.body);
    expect((await own.admin.get(SCHEDULES)).body).toEqual({ schedules: [created.body], total: 1 });
    expect((await own.admin.put(path, { rotationType: 'daily', unknown: 1 })).body).toMatchObject({
      name: 'Primary',
      rotationType: 'daily',
      rotationDays: null,
    });
    expect((await own.admin.put(path, { rotationType: 'custom' })).status).toBe(400);
    expect((await own.admin.delete(path)).status).toBe(204);
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await own.admin.send(method, path)).status).toBe(404);
    expect((await own.admin.get(SCHEDULES)).body).toEqual({ schedules: [], total: 0 });
  });

  it('have a weekly rotation that begins today, unless told otherwise', async () => {
    const { status, body } = await tenant.admin.post(SCHEDULES, { name: 'Plain', participants: [ann] });
    expect([status, body]).toMatchObject([
      201,
      { timezone: 'UTC', rotationType: 'weekly', rotationDays: null, handoffTime: '09:00', startDate: dayAhead(0) },
    ]);
  });

  it.each([
    ['participants', { participants: [] }],
    ['participants.1', { participants: [() => ann, randomUUID()] }],
    ['participants', { participants: undefined }],
    ['timezone', { timezone: 'Europe/Atlantis' }],
    ['rotationType', { rotationType: 'hourly' }],
    ['rotationDays', { rotationType: 'custom' }],
    ['handoffTime', { handoffTime: '24:00' }],
    ['startDate', { startDate: '2026-02-30' }],
    ['startDate', { startDate: '0001-01-01' }],
    ['name', { name: ' ' }],
  ])('refuse a wrong %s', async (field, over) => {
    const participants =
      'participants' in over ? over.participants?.map((id) => (typeof id === 'string' ? id : id())) : [ann];
    const { status, body } = await tenant.admin.post(SCHEDULES, { name: 'Wrong', ...over, participants });
    expect([status, body.fields?.[0]?.field]).toEqual([400, field]);
  });

  it('belong to one tenant', async () => {
    const other = await app.newTenant();
    const { id } = await newSchedule();
    for (const path of [`${SCHEDULES}/${id}`, `${SCHEDULES}/${id}/overrides/${randomUUID()}`])
      expect((await other.admin.delete(path)).status).toBe(404);
    expect((await other.admin.get(`${BASE}/current?schedule_id=${id}`)).body).toEqual({ onCall: [], uncovered: [] });
    const foreign = { scheduleId: id, adminUserId: other.adminId, startsAt: ahead(0), endsAt: ahead(HOUR) };
    expect((await other.admin.post(OVERRIDES, foreign)).status).toBe(404);
    const { status, body } = await other.admin.post(SCHEDULES, { name: 'Theirs', participants: [ann, randomUUID()] });
    expect([status, body.fields?.map(({ field }: { field: string }) => field)]).toEqual([
      400,
      ['participants.0', 'participants.1'],
    ]);
  });
});

describe('overrides (OP-188)', () => {
  it('go before the rotation while they last; removing one brings the rotation back (F202 … F204)', async () => {
    const { id: scheduleId, name: scheduleName } = await newSchedule();
    expect(await peopleNow(scheduleId)).toEqual([ann]);
    const [startsAt, endsAt] = [ahead(-HOUR), ahead(HOUR)];
    const created = await tenant.admin.post(OVERRIDES, {
      scheduleId,
      adminUserId: bo,
      startsAt,
      endsAt,
      reason: 'ill',
    });
    const override = {
      id: expect.any(String),
      scheduleId,
      adminUserId: bo,
      startsAt,
      endsAt,
      reason: 'ill',
      createdBy: ann,
      createdAt: expect.any(String),
    };
    expect([created.status, created.body]).toEqual([201, override]);
    expect((await tenant.admin.get(`${SCHEDULES}/${scheduleId}`)).body.overrides).toEqual([created.body]);
    expect((await current(scheduleId)).onCall).toEqual([
      {
        scheduleId,
        scheduleName,
        adminUserId: bo,
        email: expect.stringContaining('@'),
        displayName: expect.any(String),
        startsAt: created.body.createdAt,
        endsAt,
        isOverride: true,
      },
    ]);
    expect((await current(scheduleId, ahead(2 * HOUR))).onCall).toMatchObject([
      { adminUserId: ann, isOverride: false },
    ]);
    const path = `${SCHEDULES}/${scheduleId}/overrides/${created.body.id}`;
    expect((await tenant.admin.delete(path)).status).toBe(204);
    expect((await current(scheduleId)).onCall).toMatchObject([{ adminUserId: ann, isOverride: false }]);
    expect((await tenant.admin.delete(path)).status).toBe(404);
  });

  it('are of a schedule that exists', async () => {
    const body = {
      scheduleId: randomUUID(),
      adminUserId: randomUUID(),
      startsAt: new Date().toISOString(),
      endsAt: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const refused = await tenant.admin.post(OVERRIDES, body);
    expect([refused.status, refused.body.code]).toEqual([404, 'not_found']);
  });

  it('must end after they start, must not overlap, and need a person who can take over', async () => {
    const { id: scheduleId } = await newSchedule();
    const override = { scheduleId, adminUserId: bo, startsAt: ahead(HOUR), endsAt: ahead(3 * HOUR) };
    expect((await tenant.admin.post(OVERRIDES, { ...override, endsAt: override.startsAt })).body).toMatchObject({
      fields: [{ field: 'endsAt' }],
    });
    expect((await tenant.admin.post(OVERRIDES, { ...override, adminUserId: randomUUID() })).status).toBe(400);
    expect((await tenant.admin.post(OVERRIDES, { ...override, scheduleId: randomUUID() })).status).toBe(404);
    expect((await tenant.admin.post(OVERRIDES, override)).status).toBe(201);
    const overlapping = { ...override, startsAt: ahead(2 * HOUR), endsAt: ahead(4 * HOUR) };
    expect(await tenant.admin.post(OVERRIDES, overlapping)).toMatchObject({
      status: 409,
      body: { code: 'overrides_overlap' },
    });
    const after = { ...override, startsAt: override.endsAt, endsAt: ahead(5 * HOUR) };
    expect((await tenant.admin.post(OVERRIDES, after)).status).toBe(201);
  });

  it('are made by analysts, who may not change schedules; viewers read (OP-271)', async () => {
    const { id: scheduleId } = await newSchedule();
    const override = { scheduleId, adminUserId: bo, startsAt: ahead(HOUR), endsAt: ahead(2 * HOUR) };
    const analyst = (await app.adminWithRole(tenant, 'analyst')).client;
    const viewer = (await app.adminWithRole(tenant, 'viewer')).client;
    expect((await analyst.post(OVERRIDES, override)).status).toBe(201);
    expect((await analyst.put(`${SCHEDULES}/${scheduleId}`, { name: 'Mine' })).status).toBe(403);
    expect((await viewer.post(OVERRIDES, override)).status).toBe(403);
    expect((await viewer.get(`${BASE}/current`)).status).toBe(200);
  });
});

describe('who is on call', () => {
  it('is answered for a moment as it was then, whatever was changed or deleted later', async () => {
    const { id, createdAt: first } = await newSchedule({ participants: [bo] });
    // A change holds from the millisecond of `updatedAt` on; the next one is later.
    const changedAt = async (change: object): Promise<string> =>
      (await tenant.admin.put(`${SCHEDULES}/${id}`, change)).body.updatedAt;
    const second = await changedAt({ participants: [ann] });
    const third = await changedAt({ isEnabled: false });
    await tenant.admin.delete(`${SCHEDULES}/${id}`);
    expect(await peopleNow(id, first)).toEqual([bo]);
    expect(await peopleNow(id, second)).toEqual([ann]);
    expect([await peopleNow(id, third), await reasonsNow(id, third)]).toEqual([[], ['disabled']]);
    expect(await current(id)).toEqual({ onCall: [], uncovered: [] });
    expect(await current(id, ahead(-DAY))).toEqual({ onCall: [], uncovered: [] });
  });

  it('leaves out people whose accounts cannot be used, from then on', async () => {
    const { adminId: cy } = await app.adminWithRole(tenant, 'analyst');
    const { id, createdAt: before } = await newSchedule({ participants: [cy], rotationType: 'daily' });
    const path = `/api/v1/admin/admin-users/${cy}`;
    expect((await tenant.admin.put(path, { status: 'suspended' })).status).toBe(200);
    await app.settled();
    expect([await peopleNow(id), await reasonsNow(id)]).toEqual([[], ['suspended']]);
    expect(await peopleNow(id, before)).toEqual([cy]);
    expect((await tenant.admin.get(`${BASE}/upcoming?schedule_id=${id}`)).body).toEqual({ shifts: [], total: 0 });
    const suspended = (await tenant.admin.get(`${BASE}/coverage?schedule_id=${id}&days=2`)).body.coverage[0];
    expect(suspended).toMatchObject({ isCovered: false, gapCount: 0, unreachableCount: 3 });
    expect(suspended.unreachable[0]).toMatchObject({ adminUserId: cy, reason: 'suspended' });
    await tenant.admin.put(path, { status: 'active' });
    await app.settled();
    expect(await peopleNow(id)).toEqual([cy]);
    expect((await tenant.admin.delete(path)).status).toBe(204);
    await app.settled();
    expect(await reasonsNow(id)).toEqual(['deleted']);
    expect((await current(id, before)).onCall).toMatchObject([{ adminUserId: cy, email: null, displayName: null }]);
    // The schedule still names the deleted account, and can be changed otherwise.
    expect((await tenant.admin.put(`${SCHEDULES}/${id}`, { name: 'Later' })).status).toBe(200);
    const overridden = { scheduleId: id, adminUserId: cy, startsAt: ahead(0), endsAt: ahead(HOUR) };
    expect((await tenant.admin.post(OVERRIDES, overridden)).status).toBe(400);
  });

  it('is listed ahead by shift, for 1 to 90 days, by default 14 (OP-189)', async () => {
    const { id } = await newSchedule({ participants: [ann, bo], rotationType: 'daily', timezone: 'Asia/Kathmandu' });
    const upcoming = async (query = '') => (await tenant.admin.get(`${BASE}/upcoming?schedule_id=${id}${query}`)).body;
    const { shifts, total } = await upcoming();
    expect([shifts.length, total]).toEqual([14, 14]);
    expect(shifts[0].startsAt).toMatch(/T03:15:00\.000Z$/);
    expect(shifts[0].startsAt).toBe((await current(id)).onCall[0].endsAt);
    expect(new Set(shifts.map((shift: { adminUserId: string }) => shift.adminUserId))).toEqual(new Set([ann, bo]));
    expect((await upcoming('&days=1')).total).toBe(1);
    for (const days of ['0', '91', 'x'])
      expect((await tenant.admin.get(`${BASE}/upcoming?days=${days}`)).status).toBe(400);
  });

  it('is nobody before a schedule starts, and coverage says so', async () => {
    const { id } = await newSchedule({ startDate: dayAhead(3), handoffTime: '00:00' });
    expect([await peopleNow(id), await reasonsNow(id)]).toEqual([[], ['not_started']]);
    const { coverage, total } = (await tenant.admin.get(`${BASE}/coverage?schedule_id=${id}`)).body;
    expect([total, coverage]).toEqual([
      1,
      [
        {
          scheduleId: id,
          scheduleName: expect.any(String),
          isCovered: false,
          gaps: [{ startsAt: expect.any(String), endsAt: `${dayAhead(3)}T00:00:00.000Z`, reason: 'not_started' }],
          gapCount: 1,
          unreachable: [],
          unreachableCount: 0,
        },
      ],
    ]);
  });
});

describe('the calendar of a schedule', () => {
  const share = async (id: string) => (await tenant.admin.post(`${SCHEDULES}/${id}/calendar`)).body.url as string;
  const read = (url: string) => app.anonymous.get(url.slice(url.indexOf('/api/')));

  it('shows the shifts to calendar programs at its signed URL', async () => {
    const { id } = await newSchedule({ name: 'Ops; "EU", \\ nights', participants: [ann, bo] });
    const { status, headers, text } = await read(await share(id));
    expect([status, headers.get('content-type')]).toEqual([200, 'text/calendar; charset=utf-8']);
    const calendar = new ICAL.Component(ICAL.parse(text));
    const events = calendar.getAllSubcomponents('vevent').map((event) => new ICAL.Event(event));
    const [now, ...next] = events.map(({ startDate, endDate }) => [startDate.toJSDate(), endDate.toJSDate()]);
    const { onCall } = await current(id);
    expect(now![1]!.toISOString()).toBe(onCall[0].endsAt);
    const { shifts } = (await tenant.admin.get(`${BASE}/upcoming?schedule_id=${id}&days=90`)).body;
    expect(next.map((times) => times.map((time) => time!.toISOString()))).toEqual(
      shifts.map(({ startsAt, endsAt }: { startsAt: string; endsAt: string }) => [startsAt, endsAt]),
    );
    expect(events[0]!.summary).toBe(`Ops; "EU", \\ nights: ${onCall[0].displayName}`);
    expect((await tenant.admin.get(`${SCHEDULES}/${id}`)).body.calendarSharedAt).toEqual(expect.any(String));
  });

  it('ends when it is revoked, shared again, or its schedule is deleted', async () => {
    const { id } = await newSchedule();
    const first = await share(id);
    const second = await share(id);
    expect([(await read(first)).status, (await read(second)).status]).toEqual([403, 200]);
    expect((await tenant.admin.delete(`${SCHEDULES}/${id}/calendar`)).status).toBe(204);
    expect((await read(second)).body).toMatchObject({ code: 'address_invalid' });
    expect((await tenant.admin.delete(`${SCHEDULES}/${id}/calendar`)).status).toBe(204);
    const third = await share(id);
    await tenant.admin.delete(`${SCHEDULES}/${id}`);
    expect((await read(third)).status).toBe(403);
    expect((await tenant.admin.post(`${SCHEDULES}/${id}/calendar`)).status).toBe(404);
  });

  it('cannot be guessed from that of another schedule, tenant or time', async () => {
    const [one, other] = [await newSchedule(), await newSchedule()];
    const [url, otherUrl] = [await share(one.id), await share(other.id)];
    const foreign = await app.newTenant();
    const calendarOf = (address: string) => new URL(address).searchParams.get('calendar')!;
    for (const forged of [
      url.replace(one.id, other.id),
      url.replace(tenant.tenantId, foreign.tenantId),
      url.replace(calendarOf(url), calendarOf(otherUrl)),
      url.replace(/signature=.{4}/, 'signature=0000'),
      url.replace(/signature=.*/, 'signature='),
      url.split('?')[0]!,
    ])
      expect((await read(forged)).status).toBe(403);
  });
});
