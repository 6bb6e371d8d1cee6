import type { Application } from '../../../src/app/compose/compose.ts';

/** The numbers of what the service counts, counted by reading the event log only. */
export interface Counts {
  readonly employees: number;
  readonly alerts: number;
  readonly resolved: number;
  readonly whitelistEntries: number;
  readonly policies: number;
  readonly observations: number;
}

const PAGE = 5_000;

/** Checks the log as well: positions increase by one, and no event is duplicated. */
export async function recount(
  { store }: Application['services'],
  tenantId: string,
): Promise<Counts & { readonly gaps: readonly string[] }> {
  const counts = { employees: 0, alerts: 0, whitelistEntries: 0, policies: 0 };
  const resolved = new Set<string>();
  const observations = new Set<string>();
  const ids = new Set<string>();
  const gaps: string[] = [];
  for (let last = 0n; ;) {
    const { events, position } = await store.readAll(last, PAGE);
    if (position === last) break;
    for (const { id, type, stream, data, position: at, tenantId: owner } of events) {
      if (store.gapless && at !== (last += 1n)) gaps.push(`position ${at} follows ${last - 1n}`);
      last = at;
      if (ids.has(id)) gaps.push(`event ${id} (${type} in ${stream}, at ${at}) is there twice`);
      ids.add(id);
      if (owner !== tenantId) continue;
      const of = data as { alertId: string; observations: { eventId: string }[] };
      if (type === 'EmployeeCreated') counts.employees += 1;
      if (type === 'AlertRaised') counts.alerts += 1;
      if (type === 'ExtensionWhitelistEntryCreated') counts.whitelistEntries += 1;
      if (type === 'PolicyCreated') counts.policies += 1;
      if (type === 'AlertResolved') resolved.add(of.alertId);
      if (type === 'TelemetryRecorded') for (const { eventId } of of.observations) observations.add(eventId);
    }
    last = position;
  }
  return { ...counts, resolved: resolved.size, observations: observations.size, gaps };
}
