import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { deliveries } from '../../../../projections/notifications/deliveries.ts';
import { onCallPages } from '../../../../projections/on-call/on-call-pages.ts';
import { compose, type Application } from '../../../../src/app/compose/compose.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { rebuildLive } from '../../../../src/platform/projector/rebuild.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { DELIVERIES, eventually, newAlert, NOTIFICATIONS } from '../../../dsl/notified.ts';
import { escalateIn, pageLog, PAGES, SCHEDULES, sweepPages } from '../../../dsl/paging.ts';
import { startHttpPushPeer } from '../../../fixtures/push-peers.ts';
import { SmtpPeer } from '../../../fixtures/smtp-peer.ts';

const MINUTE = 60_000;
type Person = Awaited<ReturnType<TestApp['adminWithRole']>> & { readonly token: string };

describe('pages', () => {
  let app: TestApp;
  let other: Application;
  let gateway: Awaited<ReturnType<typeof startHttpPushPeer>>;
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true });
    gateway = await startHttpPushPeer();
    const push = { gateway: { url: gateway.url, token: undefined }, fcm: undefined, apns: undefined };
    app = await startApp({ push, devMode: true });
    other = await compose(
      { ...app.config, role: 'api' },
      { database: app.services.database.config, log: newLogger('silent') },
    );
  });
  afterAll(async () => {
    await other.stop();
    await app.close();
    await gateway.close();
    vi.useRealTimers();
  });
  // Tests move it ahead, and never back: what waits for a moment would wait again.
  const later = (minutes: number) => vi.setSystemTime(Date.now() + minutes * MINUTE);

  const prepared = async (): Promise<TestTenant> => {
    const tenant = await app.newTenant();
    await tenant.admin.put(`${NOTIFICATIONS}/settings`, { pushEnabled: true });
    await tenant.admin.post(`${NOTIFICATIONS}/push-rules`, { name: 'Everything' });
    return tenant;
  };
  /** An analyst with a phone. */
  const withPhone = async (tenant: TestTenant): Promise<Person> => {
    const person = await app.adminWithRole(tenant, 'analyst');
    const token = `token-${randomUUID()}`;
    await person.client.post('/api/v1/admin/mobile/devices', { platform: 'android', pushToken: token });
    return { ...person, token };
  };
  const schedule = async (tenant: TestTenant, people: readonly { adminId: string }[], over: object = {}) => {
    const { status, body } = await tenant.admin.post(SCHEDULES, {
      name: 'Primary',
      participants: people.map(({ adminId }) => adminId),
      startDate: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
      escalationMinutes: 1,
      ...over,
    });
    expect(status).toBe(201);
    await app.settled();
    return body.id as string;
  };
  const pushesTo = ({ token }: Person) =>
    gateway.messages.requests.map(({ body }) => JSON.parse(body)).filter((push) => push.token === token);
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const pageWhere = (tenant: TestTenant, wanted: (page: any) => boolean, filter = ''): Promise<any> =>
    eventually(async () => {
      const { body } = await tenant.admin.get(`${PAGES}?page_size=100${filter}`);
      // eslint-disable-next-line @typescript-eslint/no-explicit-any
      return (body.pages as any[]).find(wanted);
    });
  const inState = (tenant: TestTenant, alertId: string, state: string) =>
    pageWhere(tenant, (page) => page.state === state, `&alertId=${alertId}`);

  it('go to the next person until somebody acknowledges the alert', async () => {
    const tenant = await prepared();
    const [ann, bo, cy] = [await withPhone(tenant), await withPhone(tenant), await withPhone(tenant)];
    const scheduleId = await schedule(tenant, [ann, bo, cy]);
    const alertId = await newAlert(app, tenant);
    const first = await eventually(() => pushesTo(ann)[0]);
    expect(first.data).toMatchObject({ kind: 'page', alertId, step: '1' });
    const page = await inState(tenant, alertId, 'paged');
    expect(page).toMatchObject({
      scheduleId,
      severity: 'high',
      steps: [{ step: 1, round: 1, adminUserId: ann.adminId }],
    });

    await sweepPages(app);
    later(1.1);
    await sweepPages(app);
    expect((await eventually(() => pushesTo(bo)[0])).data).toMatchObject({ kind: 'page', alertId, step: '2' });
    await inState(tenant, alertId, 'escalated');

    await bo.client.put(`/api/v1/admin/alerts/${alertId}/acknowledge`, {});
    const ended = await inState(tenant, alertId, 'acknowledged');
    expect(ended).toMatchObject({ ending: 'acknowledged', endedBy: bo.adminId, nextStepAt: null });
    later(1.1);
    await sweepPages(app);
    await app.settled();
    expect(await pageLog(app, tenant, alertId)).toEqual([
      'PageStarted',
      'PagePersonCalled',
      'PagePersonCalled',
      'PagesEnded',
    ]);
    // The person on call got the page and no second push.
    expect([pushesTo(ann), pushesTo(bo), pushesTo(cy)].map(({ length }) => length)).toEqual([1, 1, 0]);

    const shown = await eventually(async () => {
      const { body } = await tenant.admin.get(`${PAGES}/${page.id}`);
      return body.deliveries.every(({ state }: { state: string }) => state === 'delivered') ? body : undefined;
    });
    expect(shown.deliveries).toMatchObject([
      { step: 1, channel: 'push', attemptCount: 1 },
      { step: 2, channel: 'push', attemptCount: 1 },
    ]);
    const { auditLogs } = (await tenant.admin.get('/api/v1/admin/audit-log?page_size=100')).body;
    const actions = auditLogs.map(({ action }: { action: string }) => action);
    expect(actions.filter((action: string) => action.startsWith('page.')).toReversed()).toEqual([
      'page.started',
      'page.person_called',
      'page.person_called',
      'page.ended',
    ]);
  });

  it.each([
    [
      'resolved',
      (id: string, { client }: Person) =>
        client.put(`/api/v1/admin/alerts/${id}/resolve`, { status: 'resolved', resolution: 'done' }),
    ],
    ['claimed', (id: string, { client }: Person) => client.put(`/api/v1/admin/alerts/${id}/claim`, {})],
    [
      'assigned',
      (id: string, { client, adminId }: Person) =>
        client.put(`/api/v1/admin/alerts/${id}/assign`, { assigneeId: adminId }),
    ],
  ])('end when the alert is %s, and begin again when it is opened again', async (ending, answer) => {
    const tenant = await prepared();
    const ann = await withPhone(tenant);
    await schedule(tenant, [ann]);
    const alertId = await newAlert(app, tenant);
    await inState(tenant, alertId, 'paged');
    const { status, body } = await answer(alertId, ann);
    expect([status, body.error]).toEqual([200, undefined]);
    expect(await inState(tenant, alertId, 'acknowledged')).toMatchObject({ ending, endedBy: ann.adminId });
    if (ending !== 'resolved') return;
    await ann.client.put(`/api/v1/admin/alerts/${alertId}/reopen`, {});
    await inState(tenant, alertId, 'paged');
    await eventually(() => pushesTo(ann).filter(({ data }) => data.kind === 'page')[1]);
  });

  it('tell all super admins once when nobody is left, of several schedules too', { timeout: 40_000 }, async () => {
    const tenant = await prepared();
    const peer = await SmtpPeer.start({ disabledCommands: ['STARTTLS'] });
    try {
      const [ann, bo] = [await withPhone(tenant), await withPhone(tenant)];
      await app.adminWithRole(tenant, 'super_admin');
      const smtp = {
        smtpHost: 'localhost',
        smtpPort: peer.port,
        smtpSecurity: 'none',
        smtpFrom: 'alerts@acme.example',
      };
      await tenant.admin.put(`${NOTIFICATIONS}/settings`, smtp);
      await schedule(tenant, [ann]);
      await schedule(tenant, [bo], { name: 'Secondary' });
      const alertId = await newAlert(app, tenant, { title: 'Nobody wakes up' });
      await eventually(async () => ((await pageLog(app, tenant, alertId)).length === 4 ? true : undefined));
      // A clock that leaps while a message is on its way makes its attempt look abandoned. Another alert, about the
      // changed mail server, may be paged, too.
      const paged = () =>
        peer.received.filter(
          ({ parsed }) => parsed.subject?.startsWith('Page: ') && parsed.subject.includes('Nobody wakes up'),
        );
      await eventually(() => paged()[1]);
      await app.settled();
      later(1.1);
      await sweepPages(app);
      await eventually(async () => ((await pageLog(app, tenant, alertId)).length === 6 ? true : undefined));
      const notices = () =>
        peer.received.filter(
          ({ parsed }) => parsed.subject === '[Castellan] Nobody answered the page for: Nobody wakes up',
        );
      await eventually(() => notices()[1]);
      await sweepPages(app);
      await app.settled();
      const accounts = (await tenant.admin.get('/api/v1/admin/admin-users')).body.adminUsers;
      const emailsOf = (role: string) =>
        accounts.flatMap(({ roleType, email }: { roleType: string; email: string }) =>
          roleType === role ? [email] : [],
        );
      expect(
        notices()
          .flatMap(({ to }) => to)
          .toSorted(),
      ).toEqual(emailsOf('super_admin').toSorted());
      // A page takes every way to a person.
      expect(
        paged()
          .flatMap(({ to }) => to)
          .toSorted(),
      ).toEqual(emailsOf('analyst').toSorted());
      const { body: listed } = await tenant.admin.get(`${PAGES}?state=exhausted`);
      const pages = listed.pages.filter((page: { alertId: string }) => page.alertId === alertId);
      expect(pages).toHaveLength(2);
      const { body } = await tenant.admin.get(`${PAGES}/${pages[0].id}`);
      expect(body.deliveries.filter(({ step }: { step: number | null }) => step === null)).toHaveLength(2);
    } finally {
      await peer.close();
    }
  });

  it('pass over people who are suspended or have no way to be reached', async () => {
    const tenant = await prepared();
    const [ann, cy] = [await withPhone(tenant), await withPhone(tenant)];
    const bo = await app.adminWithRole(tenant, 'analyst');
    await schedule(tenant, [ann, bo, cy]);
    await tenant.admin.put(`/api/v1/admin/admin-users/${ann.adminId}`, { status: 'suspended' });
    const alertId = await newAlert(app, tenant);
    expect(await inState(tenant, alertId, 'paged')).toMatchObject({
      steps: [
        {
          adminUserId: cy.adminId,
          passedOver: [
            { adminUserId: ann.adminId, reason: 'inactive' },
            { adminUserId: bo.adminId, reason: 'no_way' },
          ],
        },
      ],
    });
  });

  it('are not started without escalation, for alerts that no rule means, or that the person on call excludes', async () => {
    const tenant = await app.newTenant();
    await tenant.admin.put(`${NOTIFICATIONS}/settings`, { pushEnabled: true });
    const rule = { name: 'Phishing', alertTypes: ['phishing_detected'] };
    await tenant.admin.post(`${NOTIFICATIONS}/push-rules`, rule);
    const [ann, bo] = [await withPhone(tenant), await withPhone(tenant)];
    await schedule(tenant, [ann], { escalationMinutes: null });
    const scheduleId = await schedule(tenant, [bo], { name: 'Secondary', escalationMinutes: 5, escalationRounds: 2 });
    // By default, people want pushes from the severity `high` on.
    await newAlert(app, tenant, { severity: 'low' });
    await newAlert(app, tenant, { alertType: 'weak_password' });
    const alertId = await newAlert(app, tenant);
    await inState(tenant, alertId, 'paged');
    await eventually(async () => {
      await app.settled();
      const { waiting, active } = await app.services.jobs.counts();
      return waiting + active === 0 ? true : undefined;
    });
    const { pages } = (await tenant.admin.get(PAGES)).body;
    expect(pages).toMatchObject([{ alertId, scheduleId, escalationMinutes: 5, escalationRounds: 2 }]);
  });

  it('have timers that fire once, whichever of two processes is faster, also long after they were due', async () => {
    const tenant = await prepared();
    const [ann, bo] = [await withPhone(tenant), await withPhone(tenant)];
    await schedule(tenant, [ann, bo]);
    const alertId = await newAlert(app, tenant);
    const page = await inState(tenant, alertId, 'paged');
    const step = { tenantId: tenant.tenantId, alertId, pageId: page.id, step: 1 };
    // Before it is due, nothing happens.
    await escalateIn(app.services, step);
    later(10);
    const runners = [app.services, other.services, app.services, other.services];
    await Promise.all(runners.map((services) => escalateIn(services, step)));
    expect(await pageLog(app, tenant, alertId)).toEqual(['PageStarted', 'PagePersonCalled', 'PagePersonCalled']);
    await eventually(() => pushesTo(bo)[0]);
    await app.settled();
    expect(pushesTo(bo)).toHaveLength(1);
  });

  it('are not called again when read models are rebuilt, and timers go on', async () => {
    const tenant = await prepared();
    const [ann, bo] = [await withPhone(tenant), await withPhone(tenant)];
    await schedule(tenant, [ann, bo]);
    const alertId = await newAlert(app, tenant);
    const page = await inState(tenant, alertId, 'paged');
    await eventually(() => pushesTo(ann)[0]);
    await app.settled();
    const shown = (await tenant.admin.get(`${PAGES}/${page.id}`)).body.steps;
    const { store, codec, database, projector } = app.services;
    for (const model of [onCallPages, deliveries])
      await rebuildLive({ store, codec, pool: database.projector }, projector, model, () => {});
    await sweepPages(app);
    await app.settled();
    expect((await tenant.admin.get(`${PAGES}/${page.id}`)).body.steps).toEqual(shown);
    expect((await tenant.admin.get(DELIVERIES)).body.total).toBe(1);
    later(1.1);
    await sweepPages(app);
    await eventually(() => pushesTo(bo)[0]);
    expect(pushesTo(ann)).toHaveLength(1);
  });

  it('are withdrawn when the person whom the alert is about is erased', async () => {
    const tenant = await prepared();
    const [ann, bo] = [await withPhone(tenant), await withPhone(tenant)];
    await schedule(tenant, [ann, bo]);
    const { body: person } = await tenant.admin.post('/api/v1/admin/users', {
      email: 'eve@acme.example',
      displayName: 'Eve',
    });
    const alertId = await newAlert(app, tenant, { userId: person.id });
    await inState(tenant, alertId, 'paged');
    expect((await tenant.admin.delete(`/api/v1/admin/users/${person.id}?erase=true`)).status).toBe(204);
    await app.settled();
    later(1.1);
    await sweepPages(app);
    await inState(tenant, alertId, 'withdrawn');
    expect(pushesTo(bo)).toEqual([]);
  });

  it.each([
    ['escalationMinutes', { escalationMinutes: 0 }],
    ['escalationMinutes', { escalationMinutes: 1_441 }],
    ['escalationMinutes', { escalationMinutes: 1.5 }],
    ['escalationRounds', { escalationRounds: 0 }],
    ['escalationRounds', { escalationRounds: 6 }],
  ])('refuse a schedule with a wrong %s', async (field, over) => {
    const { admin, adminId } = await app.newTenant();
    const { status, body } = await admin.post(SCHEDULES, { name: 'Primary', participants: [adminId], ...over });
    expect([status, body.fields[0].field]).toEqual([400, field]);
  });

  it('are shown to their own tenant only', async () => {
    const tenant = await prepared();
    const ann = await withPhone(tenant);
    await schedule(tenant, [ann]);
    const page = await inState(tenant, await newAlert(app, tenant), 'paged');
    const stranger = await app.newTenant();
    expect((await stranger.admin.get(PAGES)).body.total).toBe(0);
    expect((await stranger.admin.get(`${PAGES}/${page.id}`)).status).toBe(404);
  });
});
