/** Choice OP-098. `stale` is never recorded: it is computed for an active device that has been silent for a while. */
export const deviceStatuses = ['active', 'stale', 'revoked', 'wipe_pending', 'wiped'] as const;
export type DeviceStatus = (typeof deviceStatuses)[number];
