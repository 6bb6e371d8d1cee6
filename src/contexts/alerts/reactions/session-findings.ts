import type { SessionEvent } from '../../identity/domain/session-events.ts';
import type { Envelope } from '../../../platform/kernel/event.ts';
import { at } from '../../../platform/kernel/read-model.ts';
import type { Finding } from './finding.ts';

type SessionEnded = Extract<SessionEvent, { type: 'SessionEnded' }> & Envelope;

/**
 * A refresh token was used again after its successor (choice OP-023): there is a copy. The session has ended for both
 * holders.
 */
export function reusedRefreshToken(event: SessionEnded): Finding[] {
  const { sessionId, subjectId, reason } = event.data;
  if (reason !== 'refresh_reuse') return [];
  const observedAt = at(event);
  return [
    {
      alertType: 'policy_violation',
      severity: 'high',
      title: "An administrator's refresh token was used twice",
      description:
        'A token that had been exchanged before was presented again: it may have been stolen. The session was ended, and its holder has to sign in again.',
      userId: null,
      deviceId: null,
      domain: null,
      url: null,
      about: `refresh_reuse|${sessionId}`,
      occurrences: [{ observationId: event.id, occurredAt: observedAt }],
      metadata: { kind: 'refresh_token_reuse', observedAt, observationIds: [], sessionId, adminId: subjectId },
    },
  ];
}
