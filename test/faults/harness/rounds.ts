/**
 * The number of repetitions of repeated faults: `ROUNDS=20 npm run test:faults` runs each of them twenty times. By
 * default, a number with which the whole suite takes minutes.
 */
export const rounds = (usual: number): number => Math.max(1, Number(process.env['ROUNDS'] ?? usual) || usual);

/** A round of a service under writes takes up to this long, including all checks after it. */
const ROUND_MS = 150_000;

/** The timeout of a test with this many rounds. */
export const timeoutMs = (count = 1): number => 60_000 + count * ROUND_MS;
