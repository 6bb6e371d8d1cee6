/** Choice OP-098. `stale` is never recorded: it is an active device that was not heard of for a while. */
export const deviceStatuses = ['active', 'stale', 'revoked', 'wipe_pending', 'wiped'] as const;
export type DeviceStatus = (typeof deviceStatuses)[number];
