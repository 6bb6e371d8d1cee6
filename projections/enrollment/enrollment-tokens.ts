import { deviceEvents } from '../../src/domain/devices/events.ts';
import { enrollmentEvents } from '../../src/domain/enrollment/events.ts';
import { at, defineReadModel, id, nullable, timestamp, type Row } from '../../src/kernel/read-model.ts';

const columns = {
  token_id: id,
  issued_at: timestamp,
  issued_by: nullable(id),
  expires_at: timestamp,
  used_at: nullable(timestamp),
  device_id: nullable(id),
};
export type EnrollmentTokenRow = Row<{ columns: typeof columns }>;

/** Which tokens are still waiting for their device. Nothing here lets anybody enroll. */
export const enrollmentTokens = defineReadModel({
  name: 'enrollment_tokens',
  version: 1,
  lane: 'main',
  columns,
  key: ['token_id'],
  indexes: ['(tenant_id, expires_at) where used_at is null'],
  families: [enrollmentEvents, deviceEvents],
  on: {
    EnrollmentTokenIssued: (event) => ({
      key: { token_id: event.data.tokenId },
      fold: () => ({
        token_id: event.data.tokenId,
        issued_at: at(event),
        issued_by: event.metadata.actor.id,
        expires_at: event.data.expiresAt,
        used_at: null,
        device_id: null,
      }),
    }),
    EnrollmentTokenUsed: (event) => ({
      key: { token_id: event.data.tokenId },
      fold: (row) => row && { ...row, used_at: at(event), device_id: event.data.deviceId },
    }),
  },
});
