import { unblockKeyEvents } from '../../src/contexts/policies/domain/unblock-key-events.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { ERASED } from '../../src/platform/kernel/event.ts';
import { at, defineReadModel, id, nullable, text, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  unblock_key_id: id,
  domain: text,
  /** The person of the key, also if it was created for a device. */
  person_id: nullable(id),
  user_id: nullable(id),
  device_id: nullable(id),
  reason: text,
  expires_at: timestamp,
  used_at: nullable(timestamp),
  revoked_at: nullable(timestamp),
  created_by: nullable(id),
  created_at: timestamp,
};
export type UnblockKeyRow = Row<{ columns: typeof columns }>;

/** The unblock keys that were created, for whom and why. Contains no keys. */
export const unblockKeys = defineReadModel({
  name: 'unblock_keys',
  version: 3,
  lane: 'main',
  columns,
  key: ['unblock_key_id'],
  indexes: [['created_at desc', 'unblock_key_id'], ['person_id']],
  families: [unblockKeyEvents, employeeEvents],
  on: {
    UnblockKeyCreated: (event) => ({
      key: { unblock_key_id: event.data.unblockKeyId },
      fold: () => {
        const { unblockKeyId, personId, domain, userId, deviceId, reason, expiresAt } = event.data;
        if (domain === ERASED) return undefined;
        return {
          unblock_key_id: unblockKeyId,
          person_id: personId ?? userId,
          domain,
          user_id: userId,
          device_id: deviceId,
          reason,
          expires_at: expiresAt,
          used_at: null,
          revoked_at: null,
          created_by: event.metadata.actor.id,
          created_at: at(event),
        };
      },
    }),
    UnblockKeyUsed: (event) => ({
      key: { unblock_key_id: event.data.unblockKeyId },
      fold: (row) => row && { ...row, used_at: event.data.usedAt },
    }),
    UnblockKeyRevoked: (event) => ({
      key: { unblock_key_id: event.data.unblockKeyId },
      fold: (row) => row && { ...row, revoked_at: at(event) },
    }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { person_id: userId } }),
  },
});
