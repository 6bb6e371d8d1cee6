import type { AlertType } from '../domain/vocabulary.ts';
import type { TelemetryEvent } from '../../telemetry/domain/events.ts';
import type { Observation } from '../../telemetry/domain/observation.ts';
import type { Signal } from '../../telemetry/domain/vocabulary.ts';
import { ERASED, type Envelope } from '../../../platform/kernel/event.ts';
import { findingFingerprint, type Finding, type Occurrence } from './finding.ts';

export type TelemetryRecorded = Extract<TelemetryEvent, { type: 'TelemetryRecorded' }> & Envelope;

interface Rule {
  readonly alertType: AlertType;
  readonly applies: (observation: Observation) => boolean;
  readonly title: (place: string) => string;
  readonly description: string;
}

/** A rule about one signal of a decision. Each signal of a decision has a finding of its own. */
const onSignal = (signal: Signal, rule: Omit<Rule, 'applies'>): Rule => ({
  ...rule,
  applies: (observation) => observation.kind === 'policy_decision' && observation.signals.includes(signal),
});

/**
 * Rules about single observations. Only the first that applies to an observation counts, and none if a rule about a
 * signal applies (`signalRules`). Reports about browser extensions are judged separately, under the tenant's settings
 * (`extension-findings.ts`).
 */
const rules: readonly Rule[] = [
  {
    alertType: 'canary_cookie_triggered',
    applies: ({ kind }) => kind === 'canary_cookie_triggered',
    title: (place) => `Canary cookie seen on ${place}`,
    description: 'A cookie that nobody should know was used: session cookies of this browser may be stolen.',
  },
  {
    alertType: 'breached_password',
    applies: (observation) => observation.kind === 'credential_attempt' && observation.isBreached,
    title: (place) => `Breached password used on ${place}`,
    description: 'A password that is known from a data breach was entered.',
  },
  {
    alertType: 'clickfix_detected',
    applies: ({ kind }) => kind === 'clickfix_detected',
    title: (place) => `ClickFix attempt on ${place}`,
    description: 'A page tried to make its visitor run a command.',
  },
  {
    alertType: 'mfa_missing',
    // Only at identity providers: whether a shop asks for a second factor is not our concern.
    applies: (observation) =>
      observation.kind === 'auth_flow' &&
      observation.outcome === 'success' &&
      !observation.mfaObserved &&
      observation.provider !== null &&
      observation.provider !== 'none',
    title: (place) => `Sign-in without a second factor on ${place}`,
    description: 'An identity provider signed a user in without asking for a second factor.',
  },
  {
    alertType: 'policy_violation',
    applies: (observation) =>
      'policyId' in observation &&
      observation.policyId !== null &&
      observation.action === 'warn' &&
      observation.userDecision === 'proceeded',
    title: (place) => `Policy warning overridden on ${place}`,
    description: 'A policy warned, and the person went on.',
  },
];

/** Every signal of a `policy_decision` that the extension recognized counts. */
const signalRules: readonly Rule[] = [
  onSignal('phishing_signal', {
    alertType: 'phishing_detected',
    title: (place) => `Phishing detected on ${place}`,
    description: 'The extension recognized a page that poses as another.',
  }),
  onSignal('malicious_domain', {
    alertType: 'malicious_domain',
    title: (place) => `Malicious domain visited: ${place}`,
    description: 'The domain is known to be malicious.',
  }),
  onSignal('weak_password', {
    alertType: 'weak_password',
    title: (place) => `Weak password used on ${place}`,
    description: 'A password that is easily guessed was entered.',
  }),
];

function rulesFor(observation: Observation): readonly Rule[] {
  const onSignals = signalRules.filter(({ applies }) => applies(observation));
  if (onSignals.length > 0) return onSignals;
  const first = rules.find(({ applies }) => applies(observation));
  return first ? [first] : [];
}

/** All findings of a batch, grouped so that each finding belongs to one alert. */
export function findingsIn(event: TelemetryRecorded): Finding[] {
  const groups = new Map<string, { rule: Rule; observations: Observation[] }>();
  const inOrder = [...event.data.observations].sort((a, b) =>
    a.occurredAt < b.occurredAt ? -1 : a.occurredAt > b.occurredAt ? 1 : 0,
  );
  for (const observation of inOrder) {
    for (const rule of rulesFor(observation)) {
      const name = findingFingerprint({
        alertType: rule.alertType,
        userId: event.data.userId,
        domain: observation.domain,
      });
      const group = groups.get(name);
      if (group) group.observations.push(observation);
      else groups.set(name, { rule, observations: [observation] });
    }
  }
  return [...groups.values()].map(({ rule, observations }) => findingOf(event, rule, observations));
}

const MAX_NAMED = 20;

function findingOf({ id, data }: TelemetryRecorded, rule: Rule, observations: readonly Observation[]): Finding {
  const { alertType, title, description } = rule;
  const [first] = observations as [Observation];
  const { domain, url, kind } = first;
  const occurrences = observations.map(({ eventId, occurredAt }): Occurrence => ({
    observationId: eventId,
    occurredAt,
  }));
  return {
    alertType,
    title: title(domain ?? 'an unknown site'),
    description,
    userId: data.userId,
    deviceId: data.deviceId,
    domain,
    url: url === ERASED ? null : url,
    occurrences: occurrences as [Occurrence, ...Occurrence[]],
    metadata: {
      kind,
      observedAt: first.occurredAt,
      observationIds: occurrences.slice(0, MAX_NAMED).map(({ observationId }) => observationId),
      batchId: id,
      extensionMode: data.extensionMode,
      policyVersion: data.policyVersion,
      ...detailsOf(first),
    },
  };
}

/** What the extension knew when it decided. Contains nothing personal, because metadata is not sealed. */
function detailsOf(observation: Observation): Finding['metadata'] {
  const decided: Finding['metadata'] =
    'action' in observation ? { action: observation.action, userDecision: observation.userDecision } : {};
  const policy: Finding['metadata'] = 'policyId' in observation ? { policyId: observation.policyId } : {};
  switch (observation.kind) {
    case 'policy_decision':
      return { ...decided, ...policy, signals: [...observation.signals] };
    case 'clickfix_detected':
      return { ...decided, signatureId: observation.signatureId };
    case 'auth_flow':
      return { provider: observation.provider, method: observation.method };
    case 'canary_cookie_triggered':
      return { cookieId: observation.cookieId };
    default:
      return { ...decided, ...policy };
  }
}
