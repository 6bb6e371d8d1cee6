import { recordPasswordReuse } from '../../../commands/credentials/record-password-reuse.ts';
import { reuseId } from '../../domain/credentials/identity.ts';
import { loginsIn, type Login } from '../../domain/credentials/login.ts';
import { employeeEvents } from '../../domain/employees/events.ts';
import { telemetryEvents, type TelemetryEvent } from '../../domain/telemetry/events.ts';
import type { Envelope } from '../../kernel/event.ts';
import { id, json, text } from '../../kernel/read-model.ts';
import { defineReaction, type Effect } from '../../kernel/reaction.ts';

type TelemetryRecorded = Extract<TelemetryEvent, { type: 'TelemetryRecorded' }> & Envelope;

/** A password on so many sites is reused, whatever the next one is called; what is remembered of it must stay small. */
const MOST_SITES = 100;

/** Remembers on which sites a person's password was entered, and says so when it turns up on another one. */
export const whenTelemetryRecordedDetectReuse = defineReaction({
  name: 'password-reuse-detection',
  lane: 'telemetry',
  families: [telemetryEvents, employeeEvents],
  state: { version: 1, columns: { user_id: id, password_hash: text, sites: json<readonly string[]>() }, key: ['user_id', 'password_hash'] },
  on: {
    TelemetryRecorded: (event) =>
      loginsIn(event.data.observations).map((login) => {
        const key = { user_id: event.data.userId, password_hash: login.passwordHash };
        return {
          key,
          react: (row) => {
            const sites = row?.sites ?? [];
            if (row && (sites.includes(login.site) || sites.length >= MOST_SITES)) return { row, effects: [] };
            const effects = row ? [reuse(event, login, sites)] : [];
            return { row: { ...key, sites: [...sites, login.site] }, effects };
          },
        };
      }),
    EmployeeDeleted: ({ data: { userId } }) => [{ purge: { user_id: userId } }],
    EmployeeErased: ({ data: { userId } }) => [{ purge: { user_id: userId } }],
  },
});

function reuse({ tenantId, data }: TelemetryRecorded, { observation, site, passwordHash }: Login, known: readonly string[]): Effect {
  const { userId, deviceId, extensionMode, policyVersion } = data;
  return {
    command: recordPasswordReuse,
    input: {
      reuseId: reuseId(tenantId, userId, passwordHash),
      userId,
      deviceId,
      domain: site,
      domains: [...known, site],
      cause: observation.eventId,
      occurredAt: observation.occurredAt,
      extensionMode,
      policyVersion,
    },
  };
}
