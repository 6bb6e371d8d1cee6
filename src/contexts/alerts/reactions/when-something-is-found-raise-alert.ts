import { alertEvents } from '../domain/events.ts';
import { credentialReuseEvents, type CredentialReuseEvent } from '../../credentials/domain/events.ts';
import { deviceEvents } from '../../devices/domain/events.ts';
import { employeeEvents } from '../../employees/domain/events.ts';
import { extensionWatchEvents } from '../../extensions/domain/watch-events.ts';
import { sessionEvents } from '../../identity/domain/session-events.ts';
import { telemetryEvents, type TelemetryEvent } from '../../telemetry/domain/events.ts';
import { verificationEvents } from '../../verification/domain/events.ts';
import { domainScanEvents } from '../../threat-intel/domain/domain-scan-events.ts';
import type { Envelope, EventOf, RecordedEvent } from '../../../platform/kernel/event.ts';
import { defineReaction } from '../../../platform/kernel/reaction.ts';
import { enrolledBesideAnother } from './device-findings.ts';
import { at, Containing } from '../../../platform/kernel/read-model.ts';
import { changedPermissions, unwhitelistedIn } from './extension-findings.ts';
import { maliciousDomain } from './domain-scan-findings.ts';
import type { Finding } from './finding.ts';
import { alertWindows, raiseOrRepeat, setAlertOpen, setAlertSeen } from './raise-or-repeat.ts';
import { reusedRefreshToken } from './session-findings.ts';
import { findingsIn } from './telemetry-rules.ts';

/** Turns reports of browsers into alerts, and repetitions into occurrences of an existing alert. */
export const whenSomethingIsFoundRaiseAlert = defineReaction({
  name: 'alert-detection',
  version: 2,
  lane: 'telemetry',
  families: [
    telemetryEvents,
    credentialReuseEvents,
    extensionWatchEvents,
    verificationEvents,
    sessionEvents,
    domainScanEvents,
    deviceEvents,
    alertEvents,
    employeeEvents,
  ],
  state: alertWindows,
  on: {
    TelemetryRecorded: (event) => raiseOrRepeat(event, findingsIn(event)),
    TelemetryRefused: (event) => raiseOrRepeat(event, event.data.secretWords.length > 0 ? [sentSecret(event)] : []),
    PasswordReuseDetected: (event) => raiseOrRepeat(event, [reusedPassword(event)]),
    UnwhitelistedExtensionsFound: (event) => raiseOrRepeat(event, unwhitelistedIn(event)),
    // After an erasure, `change` is a placeholder text.
    ExtensionPermissionsChanged: (event) =>
      raiseOrRepeat(event, typeof event.data.change === 'string' ? [] : [changedPermissions(event)]),
    VerificationAlertRaised: (event) => raiseOrRepeat(event, [failedVerification(event)]),
    SessionEnded: (event) => raiseOrRepeat(event, reusedRefreshToken(event)),
    DomainScanEnded: (event) => raiseOrRepeat(event, maliciousDomain(event)),
    DeviceEnrolled: (event) => raiseOrRepeat(event, enrolledBesideAnother(event)),
    AlertRaised: ({ data: { fingerprint, alertId } }) => [setAlertSeen(fingerprint, alertId)],
    AlertResolved: ({ data: { fingerprint, alertId } }) => [setAlertOpen(fingerprint, alertId, false)],
    AlertReopened: ({ data: { fingerprint, alertId } }) => [setAlertOpen(fingerprint, alertId, true)],
    // Fingerprints contain the person and the site.
    EmployeeErased: ({ data: { userId } }) => [{ purge: { fingerprint: new Containing(`|${userId}|`) } }],
  },
});

type TelemetryRefused = Extract<TelemetryEvent, { type: 'TelemetryRefused' }> & Envelope;

/** The extension is broken or tampered with: it sent a field that it must never send. Nothing of the field was kept. */
function sentSecret({ id, data }: TelemetryRefused): Finding {
  const { userId, deviceId, secretWords, occurredAt, extensionMode, policyVersion } = data;
  return {
    alertType: 'policy_violation',
    title: 'A browser sent a field that looks like a secret',
    description: 'Telemetry held a field that must not be sent. It was refused, and nothing of it was kept.',
    userId,
    deviceId,
    domain: null,
    url: null,
    about: `secret|${deviceId}`,
    occurrences: [{ observationId: id, occurredAt }],
    metadata: {
      kind: 'secret_in_telemetry',
      observedAt: occurredAt,
      observationIds: [],
      secretWords: [...secretWords],
      extensionMode,
      policyVersion,
    },
  };
}

const MAX_NAMED = 20;

function reusedPassword({ data }: CredentialReuseEvent & Envelope): Finding {
  const { userId, deviceId, domain, domains, cause, occurredAt, reuseId, extensionMode, policyVersion } = data;
  return {
    alertType: 'password_reuse',
    title: `Password reused on ${domain}`,
    description: `The same password is in use on ${domains.length} sites.`,
    userId,
    deviceId,
    domain,
    url: null,
    occurrences: [{ observationId: cause, occurredAt }],
    metadata: {
      kind: 'credential_attempt',
      observedAt: occurredAt,
      observationIds: [cause],
      reuseId,
      domains: domains.slice(0, MAX_NAMED),
      domainCount: domains.length,
      extensionMode,
      policyVersion,
    },
  };
}

type VerificationAlertRaised = RecordedEvent<
  Extract<EventOf<typeof verificationEvents>, { type: 'VerificationAlertRaised' }>
>;

/** An impostor may be posing as this employee: too many wrong codes (choice OP-236). */
function failedVerification(event: VerificationAlertRaised): Finding {
  const { alertId: verificationAlertId, userId, alertType, failures } = event.data;
  const observedAt = at(event);
  return {
    alertType: 'verification_failed',
    title: 'Repeated failures to verify an employee',
    description: `${failures} wrong codes within 15 minutes: the caller may be impersonating the employee.`,
    userId,
    deviceId: null,
    domain: null,
    url: null,
    occurrences: [{ observationId: verificationAlertId, occurredAt: observedAt }],
    metadata: { kind: alertType, observedAt, observationIds: [], verificationAlertId, failures },
  };
}
