import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from './installation.ts';
import { expectIntact, healthy } from './intact.ts';
import { Prober } from './prober.ts';
import { until } from './until.ts';
import { Writers } from './writers.ts';

/** Writes that were acknowledged before a fault begins, and again after it is over. */
const WARM_UP_WRITES = 20;
const AFTERWARDS_MS = 500;
const RESUMES_MS = 30_000;

interface Faults {
  readonly rounds?: number;
  /** Without it, probes are not judged: for faults after which no node can respond. */
  readonly probes?: boolean;
}

/**
 * Writes and probes during a fault, waits until the service is healthy and accepts writes again, and then expects that
 * nothing is lost, duplicated or counted wrong, that no process ended, and that probes always got responses.
 */
export async function underWrites(
  installation: Installation,
  fault: (round: number) => Promise<void>,
  { rounds = 1, probes = true }: Faults = {},
): Promise<void> {
  const { journal } = installation;
  await installation.signIn();
  const findings: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const prober = new Prober(() => installation.running);
    const writers = new Writers(journal, installation.written);
    try {
      await writesGoOn(installation, WARM_UP_WRITES);
      await fault(round);
      await healthy(installation).catch(() => undefined);
      await writesGoOn(installation, WARM_UP_WRITES).catch((error: Error) =>
        findings.push(`after the fault: ${error.message}`),
      );
      await sleep(AFTERWARDS_MS);
    } finally {
      await writers.stop();
      const slow = await prober.stop();
      if (probes) findings.push(...slow);
    }
    if (findings.length > 0 || installation.exits.length > 0) break;
  }
  await expectIntact(installation, findings);
}

async function writesGoOn({ journal }: Installation, count: number): Promise<void> {
  const before = journal.size;
  await until('writes are acknowledged', RESUMES_MS, () => journal.size >= before + count);
}
