/** A workload at work: `round` returns how much it did per second. */
export interface Running {
  round(): Promise<number>;
  stop(): Promise<void>;
}
