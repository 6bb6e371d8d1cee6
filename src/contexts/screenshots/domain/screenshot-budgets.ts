import { ordinaryDays } from '../../../platform/kernel/token-bucket.ts';
import type { BudgetRequest } from '../../../platform/arrivals/arrival-budgets.ts';

const MIB = 1024 * 1024;
/** Of one browser on an ordinary day. */
const PICTURES = ordinaryDays(100);
const BYTES = ordinaryDays(50 * MIB);
/** A tenant gets this for each of its licensed people, and so much if it has few. */
const BYTES_A_SEAT = 5 * MIB;
const LEAST_OF_A_TENANT = 100 * MIB;

/** What one picture costs its device and its tenant, in the one order in which budgets are locked. */
export const screenshotCost = (deviceId: string, seats: number, bytes: number): BudgetRequest[] => [
  { name: 'screenshot-bytes', size: ordinaryDays(Math.max(LEAST_OF_A_TENANT, seats * BYTES_A_SEAT)), amount: bytes },
  { name: `screenshot-bytes/${deviceId}`, size: BYTES, amount: bytes },
  { name: `screenshots/${deviceId}`, size: PICTURES, amount: 1 },
];
