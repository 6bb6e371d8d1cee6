import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../faults/harness/ask.ts';
import { rounds } from '../faults/harness/rounds.ts';
import { attacks, type AttackName } from './attacks.ts';
import { doings, Neighbour } from './neighbour.ts';
import { startTwoTenants, type TwoTenants } from './two-tenants.ts';
import { underAttack } from './under-attack.ts';

/**
 * How often the other tenant does everything while it is attacked. Latencies are measured by the benchmark (`npm run
 * bench -- abuse`).
 */
const TIMES = rounds(8);
const BETWEEN_MS = 200;

describe.each(Object.keys(attacks) as AttackName[])('while %s attacks', (name) => {
  let tenants: TwoTenants;
  let neighbour: Neighbour;
  beforeAll(async () => {
    tenants = await startTwoTenants();
    neighbour = new Neighbour(tenants.other);
  }, 120_000);
  afterAll(async () => {
    neighbour?.close();
    await tenants?.stop();
  });

  it(
    "another tenant's sign-ins, alerts, policy fetches and extension watch all succeed",
    { timeout: 300_000 + TIMES * 60_000 },
    async ({ annotate }) => {
      const failures: string[] = [];
      const { service, hostile } = tenants;
      const tally = await underAttack(name, hostile, async () => {
        for (let time = 0; time < TIMES; time += 1) {
          for (const doing of doings)
            await neighbour.do(doing).catch((error: Error) => failures.push(`${doing}: ${error.message}`));
          await sleep(BETWEEN_MS);
        }
        await neighbour.extensionAlert().catch((error: Error) => failures.push(`extension watch: ${error.message}`));
      });
      await annotate(`responses to the attacker: ${tally}`);
      expect(failures).toEqual([]);
      expect(service.exit).toBeUndefined();
      // Degraded is correct if a stream of the hostile tenant was parked.
      expect((await ask(`${service.url}/health`)).status).toBe(200);
    },
  );
});
