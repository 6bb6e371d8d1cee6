import { onCallEvents } from '../../src/contexts/on-call/domain/events.ts';
import { defineReadModel, id, nullable, text, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  override_id: id,
  schedule_id: id,
  admin_user_id: id,
  starts_at: timestamp,
  ends_at: timestamp,
  reason: nullable(text),
  created_by: nullable(id),
  created_at: timestamp,
  removed_at: nullable(timestamp),
};
export type OnCallOverrideRow = Row<{ columns: typeof columns }>;

/** Every override, also removed ones: until its removal it held. */
export const onCallOverrides = defineReadModel({
  name: 'on_call_overrides',
  version: 1,
  lane: 'main',
  columns,
  key: ['override_id'],
  indexes: [['schedule_id', 'ends_at'], ['ends_at']],
  families: [onCallEvents],
  on: {
    OnCallOverrideCreated: (event) => ({
      key: { override_id: event.data.overrideId },
      fold: () => {
        const { overrideId, scheduleId, adminUserId, startsAt, endsAt, reason, effectiveAt } = event.data;
        return {
          override_id: overrideId,
          schedule_id: scheduleId,
          admin_user_id: adminUserId,
          starts_at: startsAt,
          ends_at: endsAt,
          reason,
          created_by: event.metadata.actor.id,
          created_at: effectiveAt,
          removed_at: null,
        };
      },
    }),
    OnCallOverrideRemoved: ({ data: { overrideId, effectiveAt } }) => ({
      key: { override_id: overrideId },
      fold: (row) => row && { ...row, removed_at: effectiveAt },
    }),
  },
});
