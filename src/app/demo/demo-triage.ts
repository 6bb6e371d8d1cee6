import { assertDemo, perSecond, type DemoOutput } from './demo-output.ts';
import type { AdminCall, DemoTenant } from './demo-tenant.ts';

export interface DemoAlert {
  readonly id: string;
  readonly alertType: string;
  readonly severity: string;
}

const DECIDED = 15;

/** The fourth chapter: the day's alerts are claimed, acknowledged and resolved. Returns them. */
export async function triageChapter(output: DemoOutput, { admin }: DemoTenant): Promise<readonly DemoAlert[]> {
  output.chapter('Alerts and their triage');
  const { alerts } = await output.step(
    'list alerts',
    () => admin('GET', '/alerts?page_size=100') as Promise<{ alerts: DemoAlert[] }>,
    (list) => tally(list.alerts),
  );
  assertDemo(alerts.length > 0, 'the day raised alerts');
  await output.step(
    'claim, acknowledge, resolve',
    () => triage(admin, alerts),
    (done, s) => `${done} decisions, ${perSecond(done, s)}, each read back at once`,
  );
  return alerts;
}

const tally = (alerts: readonly DemoAlert[]): string => {
  const counts = new Map<string, number>();
  for (const { alertType } of alerts) counts.set(alertType, (counts.get(alertType) ?? 0) + 1);
  return [...counts].map(([type, count]) => `${count} ${type}`).join(', ');
};

async function triage(admin: AdminCall, alerts: readonly DemoAlert[]): Promise<number> {
  const chosen = alerts.slice(0, DECIDED);
  for (const [index, { id }] of chosen.entries()) {
    await admin('PUT', `/alerts/${id}/claim`);
    await admin('PUT', `/alerts/${id}/acknowledge`, { notes: 'looking into it' });
    const status = index % 4 === 0 ? 'false_positive' : 'resolved';
    const after = (await admin('PUT', `/alerts/${id}/resolve`, { status, resolution: 'handled in the demo' })) as {
      status: string;
    };
    assertDemo(after.status === status, 'the response shows the resolution');
  }
  return chosen.length * 3;
}
