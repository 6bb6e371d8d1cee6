import { ordinaryDays } from '../../../platform/kernel/token-bucket.ts';
import type { BudgetRequest } from '../../../platform/arrivals/arrival-budgets.ts';

const MIB = 1024 * 1024;
/** Images per browser on an ordinary day. */
const PICTURES = ordinaryDays(100);
const BYTES = ordinaryDays(50 * MIB);
/** Bytes that a tenant gets per licensed person, with a minimum for small tenants. */
const BYTES_A_SEAT = 5 * MIB;
const LEAST_OF_A_TENANT = 100 * MIB;

/**
 * The cost of one image for its device and its tenant. The order is fixed, because budgets are locked in this order.
 */
export const screenshotCost = (deviceId: string, seats: number, bytes: number): BudgetRequest[] => [
  { name: 'screenshot-bytes', size: ordinaryDays(Math.max(LEAST_OF_A_TENANT, seats * BYTES_A_SEAT)), amount: bytes },
  { name: `screenshot-bytes/${deviceId}`, size: BYTES, amount: bytes },
  { name: `screenshots/${deviceId}`, size: PICTURES, amount: 1 },
];
