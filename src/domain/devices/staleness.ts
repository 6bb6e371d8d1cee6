/** An active device that was not heard of for so long is stale, unless the tenant says otherwise (choice OP-098). */
export const STALE_DEVICE_DAYS = 7;

export const deviceStatuses = ['active', 'stale', 'revoked', 'wipe_pending', 'wiped'] as const;
export type DeviceStatus = (typeof deviceStatuses)[number];
