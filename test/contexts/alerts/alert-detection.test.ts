import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { raiseAlert } from '../../../commands/alerts/raise-alert.ts';
import { recordAlertOccurrence } from '../../../commands/alerts/record-alert-occurrence.ts';
import type { Observation } from '../../../src/contexts/telemetry/domain/observation.ts';
import { ERASED } from '../../../src/platform/kernel/event.ts';
import { whenSomethingIsFoundRaiseAlert } from '../../../src/contexts/alerts/reactions/when-something-is-found-raise-alert.ts';
import { given, NOW, recorded, type EventFor } from '../../dsl/given.ts';
import { DEVICE, login, telemetry, USER } from '../../dsl/observations.ts';
import { reactTo } from '../../dsl/reactions.ts';

const unknownMove = { userId: null, was: null, is: null };
const HOUR = 3_600_000;
const after = (hours: number) => new Date(NOW + hours * HOUR).toISOString();
const breached = (over: Partial<ReturnType<typeof login>> = {}) => login({ isBreached: true, ...over });

/** The effects of alert detection: raised alerts, and which alert occurred again how often. */
function alertsOf(...events: EventFor<typeof whenSomethingIsFoundRaiseAlert>[]) {
  return reactTo(whenSomethingIsFoundRaiseAlert, events).map(({ command, input }) => {
    const { alertId, alertType, domain, occurrences, cause } = input as { alertId: string } & Record<string, unknown>;
    if (command === raiseAlert) return { raised: alertType, domain, alertId, cause };
    expect(command).toBe(recordAlertOccurrence);
    return { again: occurrences, alertId, cause };
  });
}
const batch = (n: number, ...observations: Observation[]) => recorded(telemetry(observations), n);

describe('alerts from telemetry', () => {
  const at = { occurredAt: after(0), domain: 'evil.example', url: 'https://evil.example/' };
  const decision = { kind: 'policy_decision', ...at, action: 'warn', userDecision: 'none', policyId: null } as const;
  it.each<[string, Observation]>([
    ['breached_password', breached({ domain: 'evil.example' })],
    [
      'canary_cookie_triggered',
      { kind: 'canary_cookie_triggered', ...at, eventId: randomUUID(), cookieId: null, cookieName: null },
    ],
    [
      'clickfix_detected',
      {
        kind: 'clickfix_detected',
        ...at,
        eventId: randomUUID(),
        action: 'block',
        userDecision: 'none',
        signatureId: null,
        snippet: null,
      },
    ],
    ['phishing_detected', { ...decision, eventId: randomUUID(), signals: ['new_site', 'phishing_signal'] }],
    ['malicious_domain', { ...decision, eventId: randomUUID(), signals: ['malicious_domain'] }],
    ['weak_password', { ...decision, eventId: randomUUID(), signals: ['weak_password'] }],
    [
      'policy_violation',
      { ...decision, eventId: randomUUID(), signals: [], policyId: randomUUID(), userDecision: 'proceeded' },
    ],
  ])('include %s for its evidence', (raised, observation) => {
    expect(alertsOf(batch(1, observation))).toEqual([
      { raised, domain: 'evil.example', alertId: expect.any(String), cause: observation.eventId },
    ]);
  });

  it('are not raised for harmless observations', () => {
    expect(
      alertsOf(
        batch(
          1,
          login(),
          {
            kind: 'navigation',
            ...at,
            eventId: randomUUID(),
            title: null,
            referrerDomain: null,
            technologies: [],
            isNewSite: true,
          },
          {
            ...decision,
            eventId: randomUUID(),
            signals: ['new_site', 'breached_password', 'clickfix', 'password_reuse'],
          },
        ),
      ),
    ).toEqual([]);
  });

  it('are raised for each signal of a decision, and for no other rule', () => {
    const signals = ['malicious_domain', 'phishing_signal'] as const;
    const both = { ...decision, eventId: randomUUID(), signals: [...signals], policyId: randomUUID() };
    expect(alertsOf(batch(1, { ...both, userDecision: 'proceeded' }))).toMatchObject([
      { raised: 'phishing_detected', cause: both.eventId },
      { raised: 'malicious_domain', cause: both.eventId },
    ]);
  });

  it('contain the evidence, the mode and the policies', () => {
    const observations = [breached({ action: 'warn', userDecision: 'proceeded' }), breached({ occurredAt: after(1) })];
    const event = batch(1, ...observations);
    const [raised] = reactTo(whenSomethingIsFoundRaiseAlert, [event]);
    expect(raised?.input).toMatchObject({
      title: 'Breached password used on shop.example',
      userId: USER,
      deviceId: DEVICE,
      url: 'https://shop.example/login',
      metadata: {
        kind: 'credential_attempt',
        observationIds: observations.map(({ eventId }) => eventId),
        batchId: event.id,
        extensionMode: 'learning',
        policyVersion: 'abc',
        action: 'warn',
        userDecision: 'proceeded',
      },
    });
    expect(JSON.stringify((raised!.input as { metadata: unknown }).metadata)).not.toMatch(/kim|6f6e65/);
  });

  it('count repetitions within 24 hours, in a batch and across batches', () => {
    const [one, two, three] = [
      breached(),
      breached({ occurredAt: after(1) }),
      breached({ occurredAt: after(24.9) }),
    ] as const;
    const [raised, again, once] = alertsOf(batch(1, two, one), batch(2, three));
    expect(raised).toMatchObject({ raised: 'breached_password', cause: one.eventId });
    expect(again).toMatchObject({ again: 1, alertId: raised!.alertId });
    expect(once).toMatchObject({ again: 1, alertId: raised!.alertId });
    expect(again!.cause).not.toBe(once!.cause);
  });

  it('are raised again after 24 hours, for another person and for another domain', () => {
    const other = { userId: '66666666-6666-4666-8666-666666666666' };
    const raised = alertsOf(
      batch(1, breached()),
      batch(2, breached({ occurredAt: after(24.1) })),
      recorded(telemetry([breached()], other), 3),
      batch(4, breached({ domain: 'mail.example' })),
    );
    expect(raised.map((alert) => alert.raised)).toEqual(Array.from({ length: 4 }, () => 'breached_password'));
    expect(new Set(raised.map(({ alertId }) => alertId)).size).toBe(4);
  });

  it('order an observation that arrives late by its own time', () => {
    const [first, second, late] = alertsOf(
      batch(1, breached()),
      batch(2, breached({ occurredAt: after(72) })),
      batch(3, breached({ occurredAt: after(-2) })),
    );
    expect(second!.raised).toBe('breached_password');
    expect(late).toMatchObject({ again: 1, alertId: first!.alertId });
  });

  it('are raised again once the first was resolved, and count on the first once it was reopened', () => {
    const start = [batch(1, breached())];
    const alertId = alertsOf(...start)[0]!.alertId;
    const fingerprint = `breached_password|${USER}|shop.example`;
    const resolved = recorded(
      { type: 'AlertResolved', data: { alertId, status: 'resolved', resolution: null, fingerprint, ...unknownMove } },
      2,
    );
    const reopened = recorded(
      { type: 'AlertReopened', data: { alertId, notes: null, fingerprint, ...unknownMove } },
      3,
    );
    const next = batch(4, breached({ occurredAt: after(1) }));
    expect(alertsOf(...start, resolved, next).at(-1)).toMatchObject({ raised: 'breached_password' });
    expect(alertsOf(...start, resolved, reopened, next).at(-1)).toMatchObject({ again: 1, alertId });
  });

  const manyDomains = (n: number, from: number, many: number) =>
    recorded(telemetry(Array.from({ length: many }, (_, at) => breached({ domain: `d${from + at}.example` }))), n);
  const countOf = (alerts: ReturnType<typeof alertsOf>) => ({
    raised: alerts.filter(({ raised }) => raised).length,
    again: alerts.reduce((sum, { again }) => sum + Number(again ?? 0), 0),
  });

  it('are raised individually within a budget of 140 per device and type, and counted by one alert beyond it', () => {
    const alerts = alertsOf(...Array.from({ length: 20 }, (_, n) => manyDomains(n + 1, n * 500, 500)));
    const [summary, ...repeats] = alerts.slice(140);
    expect(alerts.slice(0, 140).every(({ domain }) => typeof domain === 'string')).toBe(true);
    expect(summary).toMatchObject({ raised: 'breached_password', domain: null });
    expect(new Set(repeats.map(({ alertId }) => alertId))).toEqual(new Set([summary!.alertId]));
    expect(repeats).toHaveLength(20);
    expect(countOf(alerts)).toEqual({ raised: 141, again: 10_000 - 141 });
  });

  it('name the device and some of the domains if one alert counts them', () => {
    const inputs = reactTo(whenSomethingIsFoundRaiseAlert, [manyDomains(1, 0, 150)]).map(
      ({ input }) => input as { deviceId: string; metadata: { domains: string[] } },
    );
    expect(inputs.at(-2)).toMatchObject({
      deviceId: DEVICE,
      userId: USER,
      metadata: { kind: 'alert_budget', domains: expect.arrayContaining(['d140.example']) },
    });
    expect(inputs.at(-1)).toMatchObject({ occurrences: 9 });
  });

  it('have a separate budget for each device and each type', () => {
    const others = recorded(telemetry([breached({ domain: 'z.example' })], { deviceId: randomUUID() }), 2);
    const weak = batch(3, {
      kind: 'policy_decision',
      ...at,
      eventId: randomUUID(),
      action: 'warn',
      userDecision: 'none',
      policyId: null,
      signals: ['weak_password'],
    });
    expect(alertsOf(manyDomains(1, 0, 200), others, weak).slice(-2)).toMatchObject([
      { raised: 'breached_password', domain: 'z.example' },
      { raised: 'weak_password' },
    ]);
  });

  it('regain ten of the budget per day of arrival, whatever days the device claims', () => {
    const claimed = (n: number, daysBack: number) =>
      recorded(
        telemetry(
          Array.from({ length: 500 }, (_, at) =>
            breached({ domain: `d${n}-${at}.example`, occurredAt: after(-24 * daysBack) }),
          ),
        ),
        n,
      );
    const sameDay = alertsOf(claimed(1, 0), claimed(2, 30), claimed(3, 60));
    expect(countOf(sameDay).raised).toBe(141);
    const nextDay = recorded(claimed(4, 0), 4, { recordedAt: NOW + 25 * HOUR });
    expect(countOf(alertsOf(claimed(1, 0), nextDay)).raised).toBe(140 + 1 + 10 + 1);
  });

  it('are counted by another alert once the counting one was resolved', () => {
    const first = manyDomains(1, 0, 200);
    const { alertId } = alertsOf(first)[140]!;
    const resolved = recorded(
      {
        type: 'AlertResolved',
        data: {
          alertId,
          status: 'resolved',
          resolution: null,
          fingerprint: `budget|breached_password|${DEVICE}`,
          ...unknownMove,
        },
      },
      2,
    );
    expect(alertsOf(first, manyDomains(3, 500, 5)).at(-1)).toMatchObject({ again: 5, alertId });
    const [raised, rest] = alertsOf(first, resolved, manyDomains(3, 500, 5)).slice(-2);
    expect(raised).toMatchObject({ raised: 'breached_password', domain: null });
    expect(raised!.alertId).not.toBe(alertId);
    expect(rest).toMatchObject({ again: 4, alertId: raised!.alertId });
  });

  it('count repetitions beyond the budget, so that no number of reports changes each alert', () => {
    const batches = Array.from({ length: 30 }, (_, n) => manyDomains(n + 1, 0, 100));
    const alerts = alertsOf(...batches);
    expect(countOf(alerts)).toEqual({ raised: 101, again: 3_000 - 101 });
    expect(alerts.length).toBeLessThan(100 + 1_400 + 30);
  });

  it('are the same when a page of the log is processed again', () => {
    const events = [batch(1, breached(), breached()), batch(2, breached())];
    expect(alertsOf(...events)).toEqual(alertsOf(...events));
  });

  it('cost two commands per batch, however often a browser repeats itself', () => {
    const asked = alertsOf(batch(1, ...Array.from({ length: 500 }, () => breached())));
    expect(asked).toEqual([
      expect.objectContaining({ raised: 'breached_password' }),
      expect.objectContaining({ again: 499 }),
    ]);
  });

  it('contain no address of an erased person', () => {
    const [raised] = reactTo(whenSomethingIsFoundRaiseAlert, [
      batch(1, breached({ url: ERASED, username: ERASED, passwordHash: ERASED })),
    ]);
    expect(raised?.input).toMatchObject({ url: null });
  });

  it('are raised when a password is reused', () => {
    const data = {
      reuseId: randomUUID(),
      userId: USER,
      deviceId: DEVICE,
      domain: 'mail.example',
      domains: ['shop.example', 'mail.example'],
      cause: randomUUID(),
      occurredAt: after(0),
      extensionMode: 'warn',
      policyVersion: 'abc',
    };
    expect(alertsOf(recorded({ type: 'PasswordReuseDetected', data }, 1))).toEqual([
      { raised: 'password_reuse', domain: 'mail.example', alertId: expect.any(String), cause: data.cause },
    ]);
  });
});

describe('recording alerts', () => {
  it('counts one occurrence per report', () => {
    const alertId = randomUUID();
    const raised = {
      type: 'AlertRaised' as const,
      data: {
        alertId,
        alertType: 'breached_password' as const,
        severity: 'high' as const,
        title: '',
        description: '',
        fingerprint: 'f',
        userId: null,
        deviceId: null,
        domain: null,
        url: null,
        cause: randomUUID(),
        metadata: {},
        raisedAt: null,
      },
    };
    const again = { alertId, cause: randomUUID(), occurrences: 3, occurredAt: after(0) };
    given(raised).when(recordAlertOccurrence, again).then({ type: 'AlertRepeated', data: again });
    given(raised, { type: 'AlertRepeated', data: again }).when(recordAlertOccurrence, again).thenNothing();
  });
});

describe('alerts from observed sign-ins', () => {
  const flow = (over: object) =>
    ({
      kind: 'auth_flow',
      eventId: randomUUID(),
      occurredAt: after(0),
      domain: 'login.example',
      url: null,
      provider: 'entra_id',
      method: 'oidc',
      relyingParty: null,
      mfaObserved: false,
      outcome: 'success',
      ...over,
    }) as Observation;

  it('report an identity provider without a second factor, and no others', () => {
    expect(
      alertsOf(
        batch(
          1,
          flow({}),
          flow({ mfaObserved: true }),
          flow({ outcome: 'failure' }),
          flow({ provider: null }),
          flow({ provider: 'none' }),
        ),
      ),
    ).toMatchObject([{ raised: 'mfa_missing', domain: 'login.example' }]);
  });
});

describe('an alert that history did not raise', () => {
  const minutes = (n: number) => ({ recordedAt: NOW + n * 60_000 });
  const found = (n: number, at: number) =>
    recorded(telemetry([breached({ occurredAt: after(at / 60) })]), n, minutes(at));
  /** As the log has it, if the effect was carried out. */
  const raisedFor = (n: number, at: number, { alertId }: { alertId: string }) =>
    recorded(
      {
        type: 'AlertRaised' as const,
        data: {
          alertId,
          alertType: 'breached_password' as const,
          severity: 'high' as const,
          title: '',
          description: '',
          fingerprint: `breached_password|${USER}|shop.example`,
          userId: USER,
          deviceId: DEVICE,
          domain: 'shop.example',
          url: null,
          cause: randomUUID(),
          metadata: {},
          raisedAt: null,
        },
      },
      n,
      minutes(at),
    );

  it('is raised by a later finding, which a new version of the reaction would only have repeated', () => {
    const [raised, raisedAgain, again] = alertsOf(found(1, 0), found(2, 120));
    expect(raisedAgain).toMatchObject({ raised: 'breached_password', alertId: raised!.alertId });
    expect(again).toMatchObject({ again: 1, alertId: raised!.alertId });
  });

  it('is told apart from one that is in the log, or about to be', () => {
    const first = found(1, 0);
    const [raised, again, later] = alertsOf(
      first,
      found(2, 5),
      raisedFor(3, 6, alertsOf(first)[0]!),
      found(4, 120),
    ) as [{ alertId: string }, object, object];
    expect([raised, again, later]).toEqual([
      expect.objectContaining({ raised: 'breached_password' }),
      expect.objectContaining({ again: 1 }),
      expect.objectContaining({ again: 1 }),
    ]);
  });

  it('is raised though it counts findings beyond a budget', () => {
    const many = (n: number, at: number) =>
      recorded(
        telemetry(
          Array.from({ length: 150 }, (_, place) =>
            breached({ occurredAt: after(at / 60), domain: `host${n}-${place}.example` }),
          ),
        ),
        n,
        minutes(at),
      );
    const summaries = reactTo(whenSomethingIsFoundRaiseAlert, [many(1, 0), many(2, 120)]).filter(
      ({ command, input }) => command === raiseAlert && (input as { title: string }).title.startsWith('One browser'),
    );
    expect(summaries.map(({ input }) => (input as { alertId: string }).alertId)).toHaveLength(2);
    expect(new Set(summaries.map(({ input }) => (input as { alertId: string }).alertId)).size).toBe(1);
  });
});
