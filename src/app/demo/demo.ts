import { Agent } from 'node:https';
import { dayChapter, fleetChapter } from './demo-fleet.ts';
import { auditChapter, rebuildChapter, type ForensicsDependencies } from './demo-forensics.ts';
import { assertDemo, DemoOutput, type DemoStep } from './demo-output.ts';
import { tenantChapter, type DemoTenantDependencies, type SigningKey } from './demo-tenant.ts';
import { triageChapter } from './demo-triage.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

export interface DemoDependencies extends DemoTenantDependencies, ForensicsDependencies {}

export interface DemoOptions {
  readonly devices: number;
  /** URL of the service's HTTP listener. */
  readonly http: string;
  readonly tls: string;
  readonly licenseSigningKey: SigningKey;
  /** Restarts the service at the same addresses. Left out if the demo did not start the service. */
  readonly restart?: () => Promise<DemoDependencies>;
  readonly terminal: Terminal;
  readonly say: (line: string) => void;
}

export interface DemoResult {
  readonly tenantId: TenantId;
  readonly steps: readonly DemoStep[];
}

/** A day of a fleet, from enrollment to forensics, on a tenant of its own, through the service's listeners. */
export async function demo(
  started: DemoDependencies,
  { devices: count, http, tls, licenseSigningKey, restart, terminal, say }: DemoOptions,
): Promise<DemoResult> {
  let services = started;
  const { stdout, env } = terminal;
  const output = new DemoOutput({ say, hasColours: stdout.isTTY === true && !env['NO_COLOR'] });
  const agent = new Agent({ keepAlive: true, maxSockets: 16, rejectUnauthorized: false });
  const settled = () => caughtUp(services);
  const tenant = await tenantChapter(services, output, { devices: count, http, licenseSigningKey });
  const fleet = await fleetChapter(output, tenant, { count, tls, agent });
  try {
    const atNoon = async () => {
      if (restart)
        services = await output.step('restart the service at noon', restart, () => 'same data, same addresses');
    };
    await dayChapter(output, tenant, fleet, { atNoon, caughtUp: settled });
    const [alert] = await triageChapter(output, tenant);
    await auditChapter(services, output, tenant.tenantId);
    await rebuildChapter(services, output, { tenantId: tenant.tenantId, alert: alert!, terminal }, settled);
  } finally {
    for (const device of fleet.devices) device.close();
    agent.destroy();
  }
  return { tenantId: tenant.tenantId, steps: output.steps };
}

/** Waits until all events, including those of reactions, are projected and reacted to. */
async function caughtUp({ store, projector }: DemoDependencies): Promise<void> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const head = await store.head();
    const checkpoints = (await projector.checkpoints.all()).filter(({ state }) => state === 'live');
    const isWorked =
      checkpoints.every(({ position }) => position >= head) && (await projector.backlogs.counts()).size === 0;
    if (isWorked && (await store.head()) === head) return;
    assertDemo(Date.now() < deadline, 'the read side catches up');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
