import { setTimeout as sleep } from 'node:timers/promises';
import { endTracked, startTracked } from '../faults/harness/child-processes.ts';
import { Hopeless, until } from '../faults/harness/until.ts';
import type { AttackName } from './attacks.ts';
import type { Party } from './party.ts';

const PREPARED_MS = 300_000;
/** Time for queues to fill up before the measurement. */
const UNDER_WAY_MS = 2_000;

/** Runs `work` during an attack in another process; returns the responses that the attacker got. */
export async function underAttack(name: AttackName, hostile: Party, work: () => Promise<void>): Promise<string> {
  const attacker = startTracked(process.execPath, ['scripts/run.mjs', 'test/abuse/attacker.ts', name], {
    env: { ...process.env, HOSTILE: JSON.stringify(hostile) },
  });
  try {
    await until(
      () => `the attack has begun: ${attacker.output()}`,
      PREPARED_MS,
      () => {
        if (attacker.exit() !== undefined) throw new Hopeless(`the attacker ended: ${attacker.output()}`);
        return attacker.output().includes('attacking');
      },
    );
    await sleep(UNDER_WAY_MS);
    await work();
  } finally {
    await endTracked(attacker, 'SIGTERM', 40_000);
  }
  return attacker.output().trim().split('\n').at(-1) ?? '';
}
