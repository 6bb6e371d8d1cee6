import type { SyncCounts } from './events.ts';

export const NOTHING_SYNCED: SyncCounts = {
  people: 0,
  created: 0,
  linked: 0,
  changed: 0,
  deactivated: 0,
  unchanged: 0,
  refused: 0,
  groups: 0,
  memberships: 0,
};
