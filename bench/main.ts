import type { Row } from './measure.ts';

/**
 * Every benchmark of this folder, by name: `npm run bench` runs all, `npm run bench -- appends` one; `npm run bench --
 * without <part>` measures an optimization.
 */
const benches: Readonly<Record<string, () => Promise<{ measure(): Promise<Row[]> }>>> = {
  appends: () => import('./appends.ts'),
  certificates: () => import('./certificates.ts'),
  'policy-engine': () => import('./policy-engine.ts'),
  eventstoredb: () => import('./eventstoredb.ts'),
  rebuild: () => import('./rebuild.ts'),
  http: () => import('./http.ts'),
  'device-policies': () => import('./device-policies.ts'),
  telemetry: () => import('./telemetry.ts'),
  'analyst-routes': () => import('./analyst-routes.ts'),
  'extension-inventory': () => import('./extension-inventory.ts'),
  neighbours: () => import('./neighbours.ts'),
  abuse: () => import('./abuse.ts'),
  'audit-verify': () => import('./audit-verify.ts'),
  'sso-discover': () => import('./sso-discover.ts'),
  login: () => import('./login.ts'),
  provisioning: () => import('./provisioning/main.ts'),
  'on-call': () => import('./on-call.ts'),
  delivery: () => import('./delivery/main.ts'),
};

const round = (value: number) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));

/** Runs the benchmarks of these names, or all. Returns how many targets were missed. */
async function missedBy(asked: readonly string[]): Promise<number> {
  let missed = 0;
  for (const [name, load] of Object.entries(benches)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    const rows = await (await load()).measure();
    for (const { name: what, ours, peer, peerName, unit, ratio, target } of rows) {
      const bound = Number(/^[<>]= ([\d.]+)$/.exec(target)?.[1]);
      const kept = Number.isNaN(bound) || (target.startsWith('>') ? ratio >= bound : ratio <= bound);
      if (!kept) missed += 1;
      console.log(
        `${kept ? 'ok    ' : 'MISSED'} ${what}: ${round(ours)} ${unit}, ${peerName ?? 'peer'} ${round(peer)}, ratio ${ratio.toFixed(2)} (${target})`,
      );
    }
  }
  return missed;
}

async function main(asked: readonly string[]): Promise<void> {
  if (asked[0] === 'without') {
    const { measureWithout } = await import('./without/main.ts');
    await measureWithout(asked.slice(1));
    process.exit();
  }
  process.exitCode = (await missedBy(asked)) === 0 ? 0 : 1;
}

void main(process.argv.slice(2));
