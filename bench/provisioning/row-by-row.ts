import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createEmployee } from '../../commands/employees/create-employee.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { BenchApp } from '../app.ts';
import { concurrently } from '../measure.ts';

const AT_ONCE = 24;

/**
 * Stores people as imports did before directories: one command for each row, 24 at a time, and each person's key in a
 * transaction of its own. Faster than such an import was: without upload and parsing, and with shared look-ups of claims
 * and seats, which came later (decision 0160 has the figures of then).
 */
export async function storeRowByRow({ services, tenantId }: BenchApp, count: number): Promise<void> {
  // Keys that are made in one turn of the event loop would share a transaction.
  let turn = Promise.resolve();
  const ownTurn = () => (turn = turn.then(() => nextTurn()));
  await concurrently(AT_ONCE, count, async (n) => {
    const userId = randomUUID();
    await ownTurn();
    await services.personKeys.forSealing(tenantId, userId);
    const described = { displayName: `Person ${n}`, department: 'Sales', jobTitle: 'Clerk', externalId: null };
    const input = { userId, email: `row${n}@acme.example`, ...described, source: 'import', isActive: true } as const;
    orThrow(await services.executor.execute(createEmployee, input, { tenantId, actor: system('bench') }));
  });
  await services.freshness.waitFor(createEmployee.freshens!, await services.store.head(), 600_000);
}
