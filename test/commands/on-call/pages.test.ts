import { describe, expect, it } from 'vitest';
import { endPages } from '../../../commands/on-call/end-pages.ts';
import { escalatePage } from '../../../commands/on-call/escalate-page.ts';
import { startPage } from '../../../commands/on-call/start-page.ts';
import { pageIdOf } from '../../../src/contexts/on-call/domain/alert-pages.ts';
import { pageEvents, type ResponseKind } from '../../../src/contexts/on-call/domain/page-events.ts';
import type { Callee } from '../../../src/contexts/on-call/domain/page-order.ts';
import { historiesOf, NOW, TENANT } from '../../dsl/given.ts';

const { given } = historiesOf([pageEvents]);
const MINUTE = 60_000;
const iso = (moment: number) => new Date(moment).toISOString();
const uuid = (n: number) => `0198a000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const [alertId, eventId, scheduleId, ann, bo] = [uuid(1), uuid(2), uuid(3), uuid(4), uuid(5)];
const pageId = pageIdOf(TENANT, eventId, scheduleId);
const address = (name: string) => ({ kind: 'email' as const, address: `${name}@acme.example` });
const order: Callee[] = [
  { adminId: ann, recipients: [address('ann')] },
  { adminId: bo, recipients: [address('bo')] },
];
const superAdmins = [address('root')];
const open = { alert: { severity: 'high' as const, answer: null, reopenings: 0 } };
const reopened = { alert: { ...open.alert, reopenings: 1 } };
const answered = (answer: ResponseKind) => ({ alert: { ...open.alert, answer } });

const page = { alertId, eventId, occurredAt: iso(NOW - MINUTE), scheduleId, escalationMinutes: 5, escalationRounds: 1 };
const start = { ...page, order, superAdmins };
const startedAt = (moment: number, over = {}) => ({
  type: 'PageStarted' as const,
  data: { pageId, ...page, severity: 'high' as const, startedAt: iso(moment), reopenings: 0, ...over },
});
const about = { pageId, alertId, scheduleId, eventId };
const called = (step: number, adminId: string, moment: number, over = {}) => ({
  type: 'PagePersonCalled' as const,
  data: {
    ...about,
    severity: 'high' as const,
    step,
    round: 1,
    adminId,
    passedOver: [],
    recipients: [address(adminId === ann ? 'ann' : 'bo')],
    calledAt: iso(moment),
    escalatesAt: iso(moment + 5 * MINUTE),
    ...over,
  },
});
const exhausted = (recipients = superAdmins, over = {}) => ({
  type: 'PageExhausted' as const,
  data: { ...about, passedOver: [], recipients, exhaustedAt: iso(NOW), ...over },
});
const escalate = { alertId, pageId, step: 1, order, superAdmins, isErased: false };
const dueNow = [startedAt(NOW - 5 * MINUTE), called(1, ann, NOW - 5 * MINUTE)] as const;

describe('a page', () => {
  it('calls the person on call and sets the timer', () => {
    given()
      .when(startPage, start, open)
      .then(startedAt(NOW), called(1, ann, NOW));
  });

  it('is started once for an event and a schedule, and not while another one of the schedule is open', () => {
    given(...dueNow)
      .when(startPage, start, open)
      .thenNothing();
    given(...dueNow)
      .when(startPage, { ...start, eventId: uuid(9) }, open)
      .thenNothing();
  });

  it('is not started for an alert that somebody has taken on meanwhile, or that does not exist', () => {
    given().when(startPage, start, answered('claimed')).thenNothing();
    given().when(startPage, start, { alert: undefined }).thenNothing();
  });

  it('is exhausted at once if nobody can be reached, and tells all super admins', () => {
    const passedOver = [{ adminId: ann, reason: 'inactive' as const }];
    given()
      .when(startPage, { ...start, order: [{ adminId: ann, unreachable: 'inactive' }] }, open)
      .then(startedAt(NOW), exhausted(superAdmins, { passedOver }));
  });

  it('stands for an ordinary push to the person whom it calls, has called, or would call if nobody had answered', () => {
    const context = { tenantId: TENANT, now: NOW } as never;
    const { fold, initial } = startPage.aggregate;
    const paged = dueNow.reduce((state, event) => fold(state, event), initial);
    const later = { ...start, eventId: uuid(9) };
    const result = (...[state, facts]: [typeof initial, typeof open | ReturnType<typeof answered>]) =>
      (startPage.decide(state, later, context, facts) as { result?: string }).result;
    expect(result(paged, open)).toBe(ann);
    expect(result(initial, answered('resolved'))).toBe(ann);
    expect(result(paged, { alert: { ...open.alert, severity: 'critical' } } as never)).toBeUndefined();
  });

  it('says who was called first, also when it is asked again', () => {
    const context = { tenantId: TENANT, now: NOW } as never;
    const initial = startPage.aggregate.initial;
    const decided = startPage.decide(initial, start, context, open) as unknown as { result: string; events: never[] };
    const state = decided.events.reduce((folded, event) => startPage.aggregate.fold(folded, event), initial);
    const again = startPage.decide(state, start, context, open) as unknown as { result: string };
    expect([decided.result, again.result]).toEqual([ann, ann]);
  });
});

describe('the timer of a page', () => {
  it('calls the next person when it has run out, and not before', () => {
    given(...dueNow)
      .when(escalatePage, escalate, open)
      .then(called(2, bo, NOW));
    given(startedAt(NOW), called(1, ann, NOW - 5 * MINUTE + 1))
      .when(escalatePage, escalate, open)
      .thenNothing();
  });

  it('fires once: a second process finds that the step is over', () => {
    given(...dueNow, called(2, bo, NOW - 1))
      .when(escalatePage, escalate, open)
      .thenNothing();
    given(...dueNow, exhausted())
      .when(escalatePage, escalate, open)
      .thenNothing();
    given().when(escalatePage, escalate, open).thenNothing();
  });

  it('tells all super admins when nobody is left, once for an event of the alert', () => {
    const late = NOW - 5 * MINUTE;
    const last = [startedAt(late), called(1, ann, late), called(2, bo, late)] as const;
    given(...last)
      .when(escalatePage, { ...escalate, step: 2 }, open)
      .then(exhausted());
    const other = { pageId: uuid(8), scheduleId: uuid(7) };
    given(startedAt(late, other), exhausted(superAdmins, other), ...last)
      .when(escalatePage, { ...escalate, step: 2 }, open)
      .then(exhausted([]));
  });

  it('begins another round if the schedule has several', () => {
    const late = NOW - 5 * MINUTE;
    given(startedAt(late, { escalationRounds: 2 }), called(1, ann, late), called(2, bo, late))
      .when(escalatePage, { ...escalate, step: 2 }, open)
      .then(called(3, ann, NOW, { round: 2 }));
  });

  it('ends the page of an alert that was answered, or that nothing is left of', () => {
    const ended = (ending: 'resolved' | 'erased') => ({
      type: 'PagesEnded' as const,
      data: { alertId, pageIds: [pageId], ending, adminId: null, endedAt: iso(NOW) },
    });
    given(...dueNow)
      .when(escalatePage, escalate, answered('resolved'))
      .then(ended('resolved'));
    given(...dueNow)
      .when(escalatePage, { ...escalate, isErased: true }, open)
      .then(ended('erased'));
  });
});

describe('an answer', () => {
  const answer = { alertId, ending: 'acknowledged' as const, adminId: bo, endedAt: iso(NOW) };
  const ended = (...pageIds: string[]) => ({ type: 'PagesEnded' as const, data: { ...answer, pageIds } });

  it('ends all pages of the alert, open or exhausted, once', () => {
    const other = { pageId: uuid(8), scheduleId: uuid(7) };
    given(...dueNow, startedAt(NOW - MINUTE, other), exhausted(superAdmins, other))
      .when(endPages, answer, answered('acknowledged'))
      .then(ended(pageId, uuid(8)));
    given(...dueNow, ended(pageId))
      .when(endPages, answer, answered('acknowledged'))
      .thenNothing();
    given(...dueNow, ended(pageId))
      .when(escalatePage, escalate, open)
      .thenNothing();
    given().when(endPages, answer, answered('acknowledged')).thenNothing();
  });

  it('does not end pages of an event after it: the alert was opened again', () => {
    given(startedAt(NOW, { occurredAt: iso(NOW + 1) }), called(1, ann, NOW))
      .when(endPages, answer, reopened)
      .thenNothing();
  });
});

describe('an alert that was resolved and opened again, before its answer ended the page', () => {
  const answer = { alertId, ending: 'resolved' as const, adminId: bo, endedAt: iso(NOW - 1) };
  const again = { ...start, eventId: uuid(9), occurredAt: iso(NOW) };
  const second = { pageId: pageIdOf(TENANT, uuid(9), scheduleId), eventId: uuid(9) };
  const secondStarted = startedAt(NOW, { ...second, occurredAt: iso(NOW), reopenings: 1 });

  it('gets a page of its own: the one before is answered', () => {
    given(...dueNow)
      .when(startPage, again, reopened)
      .then(secondStarted, called(1, ann, NOW, second));
    given(...dueNow, secondStarted, called(1, ann, NOW, second))
      .when(endPages, answer, reopened)
      .then({ type: 'PagesEnded', data: { ...answer, pageIds: [pageId] } });
  });

  it('calls nobody else by the page before', () => {
    given(...dueNow)
      .when(escalatePage, escalate, reopened)
      .thenNothing();
  });

  it('keeps a page that was started late, for the first event, until it is answered again', () => {
    const late = [startedAt(NOW, { reopenings: 1 }), called(1, ann, NOW)] as const;
    given(...late)
      .when(startPage, again, reopened)
      .thenNothing();
    given(...late)
      .when(endPages, answer, reopened)
      .thenNothing();
    given(...late)
      .when(endPages, { ...answer, endedAt: iso(NOW) }, { alert: { ...reopened.alert, answer: 'resolved' } })
      .then({ type: 'PagesEnded', data: { ...answer, endedAt: iso(NOW), pageIds: [pageId] } });
  });
});
