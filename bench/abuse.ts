import { attacks, type AttackName } from '../test/abuse/attacks.ts';
import { doings, Neighbour, type Doing } from '../test/abuse/neighbour.ts';
import { startTwoTenants } from '../test/abuse/two-tenants.ts';
import { underAttack } from '../test/abuse/under-attack.ts';
import { compare, type Row } from './measure.ts';

/** With the warm-up fewer than the alerts of one type that a browser may raise at once. */
const TIMES = 60;
const WARM_UP = 10;
/** A starved tenant is not measured longer than this. */
const LONGEST_MS = 90_000;
const PAUSE_MS = 50;

interface Latencies {
  readonly p50: number;
  readonly p95: number;
}

/**
 * A tenant's latencies while another one's device, analyst or whole tenant attacks, against those before the attack.
 * Service, attacker and tenant are separate processes. A failed request counts with its waiting time: another test
 * checks that all succeed.
 */
export async function measure(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of Object.keys(attacks) as AttackName[]) rows.push(...(await during(name)));
  return rows;
}

async function during(name: AttackName): Promise<Row[]> {
  const tenants = await startTwoTenants();
  const neighbour = new Neighbour(tenants.other);
  try {
    await latencies(neighbour, WARM_UP);
    const idle = await latencies(neighbour, TIMES);
    let attacked = idle;
    const tally = await underAttack(name, tenants.hostile, async () => {
      attacked = await latencies(neighbour, TIMES);
    });
    console.log(`       responses to ${name}: ${tally}`);
    return doings.flatMap((doing) =>
      (['p50', 'p95'] as const).map((part) =>
        compare(
          `${doing} of another tenant beside ${name}, ${part} against idle`,
          'ms',
          part === 'p50' ? '<= 3' : 'reported',
          attacked.get(doing)![part],
          idle.get(doing)![part],
          'idle',
        ),
      ),
    );
  } finally {
    neighbour.close();
    await tenants.stop();
  }
}

async function latencies(neighbour: Neighbour, times: number): Promise<Map<Doing, Latencies>> {
  const took = new Map<Doing, number[]>(doings.map((doing) => [doing, []]));
  const end = performance.now() + LONGEST_MS;
  for (let n = 0; n < times && performance.now() < end; n += 1) {
    for (const doing of doings) took.get(doing)!.push(await timed(() => neighbour.do(doing)));
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return new Map([...took].map(([doing, ms]) => [doing, spread(ms.sort((a, b) => a - b))]));
}

async function timed(work: () => Promise<number>): Promise<number> {
  const started = performance.now();
  return work().catch(() => performance.now() - started);
}

const spread = (sorted: readonly number[]): Latencies => ({
  p50: sorted[Math.floor(sorted.length * 0.5)]!,
  p95: sorted[Math.floor(sorted.length * 0.95)]!,
});
