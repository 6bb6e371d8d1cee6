import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { chainOwners } from '../../../src/contexts/audit/chain-owners.ts';
import { verifyTenant } from '../../../src/contexts/audit/verify.ts';
import type { Application } from '../../../src/app/compose/compose.ts';
import { foldedTables } from '../../dsl/folded-tables.ts';
import { all, counted } from './responses.ts';
import { ask } from './ask.ts';
import { inspect } from './inspection.ts';
import type { Installation } from './installation.ts';
import type { Kind } from './journal.ts';
import { recount } from './recount.ts';
import { until } from './until.ts';

/** The time in which all nodes report that they are healthy after the fault, and in which read models then catch up. */
const HEALTHY_MS = 20_000;
const CAUGHT_UP_MS = 30_000;
/** The number of findings of one kind that are shown. */
const SHOWN = 5;

/**
 * Everything that holds after a fault. Findings are collected and shown together with those of the caller: one fault
 * may have several consequences.
 */
export async function expectIntact(installation: Installation, known: readonly string[] = []): Promise<void> {
  const findings: string[] = [...known, ...installation.exits];
  const note: Note = (what, found) => {
    if (found.length > 0) findings.push(`${what}: ${found.length}, such as ${found.slice(0, SHOWN).join('; ')}`);
  };
  const examine = (what: string, examination: () => Promise<unknown>) =>
    examination().catch((error: Error) => findings.push(`${what}: ${error.message}`));
  await examine('health', () => healthy(installation));
  await examine('sign-in', () => installation.signIn());
  note('writes without a mistake that were refused', installation.journal.wronglyRefused);
  note('writes answered 500 instead of 503', installation.journal.internalErrors);
  await examine('inspection', () =>
    inspect(installation, async (services) => {
      await examine('catching up', () => caughtUp(services));
      await examine('lists', () => seenByReaders(installation, note));
      await examine('tables', () => standingInTables(installation, note));
      await examine('counters', () => countedRight(installation, services, note));
      await examine('projections diff', async () =>
        note('projections diff', (await foldedTables(services)).differences),
      );
      await examine('audit verify', () => chained(services, note));
    }),
  );
  expect(findings).toEqual([]);
}

type Note = (what: string, found: readonly string[]) => void;

/** A process that distrusts the log has written nothing wrong before: the tables match the log so far. */
export async function expectNoGhosts(installation: Installation): Promise<void> {
  const findings: string[] = [...installation.exits];
  const note: Note = (what, found) => {
    if (found.length > 0) findings.push(`${what}: ${found.length}, such as ${found.slice(0, SHOWN).join('; ')}`);
  };
  await inspect(installation, async (services) => {
    const head = await services.store.head();
    const beyond = (await services.projector.checkpoints.all()).filter(
      ({ state, position }) => state !== 'retired' && position > head,
    );
    note(
      `checkpoints beyond the end of the log at ${head}`,
      beyond.map(({ name, position }) => `${name} at ${position}`),
    );
    note('projections diff', (await foldedTables(services)).differences);
  });
  expect(findings).toEqual([]);
}

/** Every node that should work reports so. */
export async function healthy({ present }: Installation): Promise<void> {
  const last = new Map<string, string>();
  await until(
    () => `every node is healthy and ready: ${[...last].map(([name, said]) => `${name}: ${said}`).join('; ')}`,
    HEALTHY_MS,
    async () => {
      last.clear();
      await Promise.all(
        present.map(async ({ name, url, exit }) => {
          if (exit !== undefined) return last.set(name, `ended (${exit})`);
          for (const path of ['/health', '/ready']) {
            const reply = await ask(url + path, { timeoutMs: 3_000 }).catch((error: Error) => error);
            if (reply instanceof Error || reply.status !== 200 || reply.body.status !== 'healthy')
              last.set(name, reply instanceof Error ? reply.message : reply.text);
          }
          return undefined;
        }),
      );
      return last.size === 0;
    },
  );
}

/** Read models and reactions have processed everything, and reactions add nothing. */
async function caughtUp({ store, projector }: Application['services']): Promise<void> {
  let behind = '';
  await until(
    () => `read models have caught up: ${behind}`,
    CAUGHT_UP_MS,
    async () => {
      const head = await store.head();
      const late = (await projector.checkpoints.all()).filter(
        ({ state, position }) => state !== 'retired' && (state === 'halted' || position < head),
      );
      behind = late
        .map(
          ({ name, state, position, failure }) =>
            `${name} ${state} at ${position} of ${head}${failure ? ` (${failure})` : ''}`,
        )
        .join(', ');
      return late.length === 0 && (await store.head()) === head;
    },
  );
}

const keysOf: Readonly<Record<Kind, { path: string; list: string; key: string }>> = {
  employee: { path: '/api/v1/admin/users', list: 'users', key: 'email' },
  'whitelist entry': { path: '/api/v1/admin/extension-monitoring/whitelist', list: 'entries', key: 'extensionId' },
  policy: { path: '/api/v1/admin/policies', list: 'policies', key: 'name' },
  observation: { path: '/api/v1/admin/events/navigation', list: 'events', key: 'id' },
  alert: { path: '/api/v1/admin/alerts?alert_type=breached_password', list: 'alerts', key: 'domain' },
  resolution: { path: '/api/v1/admin/alerts?status=resolved', list: 'alerts', key: 'id' },
};

/** Acknowledged writes are in the administrator's lists, without duplicates. */
async function seenByReaders({ written, journal }: Installation, note: Note): Promise<void> {
  for (const [kind, { path, list, key }] of Object.entries(keysOf) as [Kind, (typeof keysOf)[Kind]][]) {
    const records = await all<Record<string, string>>(written, path, list);
    if (kind === 'observation')
      records.push(...(await all<Record<string, string>>(written, '/api/v1/admin/events/credential-attempts', list)));
    const seen = records.map((record) => record[key]!);
    compare(kind, 'list', journal.acknowledged(kind), seen, note);
  }
}

const tables: Readonly<Record<Kind, string>> = {
  employee: 'select email as key from employees',
  'whitelist entry': 'select extension_id as key from extension_whitelist_entries',
  policy: 'select name as key from policies',
  observation: 'select event_id::text as key from observations',
  alert: `select domain as key from alerts where alert_type = 'breached_password'`,
  resolution: `select alert_id::text as key from alerts where status = 'resolved'`,
};

/** They are in the tables as well, behind all caches of the service. */
async function standingInTables({ cluster, database, journal }: Installation, note: Note): Promise<void> {
  for (const [kind, sql] of Object.entries(tables) as [Kind, string][]) {
    const rows = await cluster.query<{ key: string }>(sql, database);
    compare(
      kind,
      'table',
      journal.acknowledged(kind),
      rows.map(({ key }) => key),
      note,
    );
  }
}

function compare(
  kind: Kind,
  where: string,
  acknowledged: readonly string[],
  found: readonly string[],
  note: Note,
): void {
  const there = new Set(found);
  note(
    `acknowledged, and missing in the ${where} (${kind})`,
    acknowledged.filter((key) => !there.has(key)),
  );
  if (there.size < found.length)
    note(
      `twice in the ${where} (${kind})`,
      found.filter((key, at) => found.indexOf(key) !== at),
    );
}

/** The service's counters match the log. */
async function countedRight(
  { tenantId, written }: Installation,
  services: Application['services'],
  note: Note,
): Promise<void> {
  const { gaps, ...truth } = await recount(services, tenantId);
  note('wrong in the log', gaps);
  const said = await counted(written);
  if (!isDeepStrictEqual(said, truth))
    note('counters', [`the service says ${JSON.stringify(said)}, the log ${JSON.stringify(truth)}`]);
}

/** `audit verify`. */
async function chained(services: Application['services'], note: Note): Promise<void> {
  for (const { id, name } of await chainOwners(services)) {
    const { valid, reason, firstInvalidSequence } = await verifyTenant(services, id);
    if (!valid) note(`audit verify ${name}`, [`${reason} at ${firstInvalidSequence}`]);
  }
}
