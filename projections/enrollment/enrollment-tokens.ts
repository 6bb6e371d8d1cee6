import { deviceEvents } from '../../src/contexts/devices/domain/events.ts';
import { enrollmentEvents } from '../../src/contexts/enrollment/domain/events.ts';
import { at, defineReadModel, id, nullable, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  token_id: id,
  issued_at: timestamp,
  issued_by: nullable(id),
  expires_at: timestamp,
  /** The employee whose browser it enrolls; null: it enrolls a placeholder. */
  user_id: nullable(id),
  /** Common id of tokens that were issued together. */
  batch_id: nullable(id),
  used_at: nullable(timestamp),
  device_id: nullable(id),
  revoked_at: nullable(timestamp),
  revoked_by: nullable(id),
};
export type EnrollmentTokenRow = Row<{ columns: typeof columns }>;

/** All tokens and their state. Nothing here allows an enrollment. */
export const enrollmentTokens = defineReadModel({
  name: 'enrollment_tokens',
  version: 3,
  lane: 'main',
  columns,
  key: ['token_id'],
  indexes: [
    '(tenant_id, expires_at) where used_at is null and revoked_at is null',
    ['issued_at desc', 'token_id'],
    ['batch_id'],
  ],
  families: [enrollmentEvents, deviceEvents],
  on: {
    EnrollmentTokenIssued: (event) => ({
      key: { token_id: event.data.tokenId },
      fold: () => ({
        token_id: event.data.tokenId,
        issued_at: at(event),
        issued_by: event.metadata.actor.id,
        expires_at: event.data.expiresAt,
        user_id: event.data.userId,
        batch_id: event.data.batchId,
        used_at: null,
        device_id: null,
        revoked_at: null,
        revoked_by: null,
      }),
    }),
    EnrollmentTokenRevoked: (event) => ({
      key: { token_id: event.data.tokenId },
      fold: (row) => row && { ...row, revoked_at: at(event), revoked_by: event.metadata.actor.id },
    }),
    EnrollmentTokenUsed: (event) => ({
      key: { token_id: event.data.tokenId },
      fold: (row) => row && { ...row, used_at: at(event), device_id: event.data.deviceId },
    }),
    // Its device exists, but nobody holds the certificate.
    EnrollmentTokenReturned: (event) => ({
      key: { token_id: event.data.tokenId },
      fold: (row) => row && { ...row, used_at: null },
    }),
  },
});
