import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPage } from '../../../../commands/on-call/start-page.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import type { Callee } from '../../../../src/contexts/on-call/domain/page-order.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { DELIVERIES, eventually, newAlert } from '../../../dsl/notified.ts';

/** More than two events of planned recipients hold (OP-509). */
const MANY = 230;
const recipients = Array.from({ length: MANY }, (_, n) => ({
  kind: 'email' as const,
  address: `person-${n}@acme.example`,
}));

let app: TestApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.close());

/** The addresses that have a delivery, in all pages of the list. */
async function addressees(tenant: TestTenant): Promise<readonly string[] | undefined> {
  const { total } = (await tenant.admin.get(`${DELIVERIES}?channel=email&page_size=1`)).body;
  if (total < MANY) return undefined;
  const pages = [1, 2, 3].map((page) => tenant.admin.get(`${DELIVERIES}?channel=email&page_size=100&page=${page}`));
  return (await Promise.all(pages)).flatMap(({ body }) =>
    body.deliveries.map(({ recipient }: { recipient: { address: string } }) => recipient.address),
  );
}

it.each([
  ['a page', [{ adminId: randomUUID(), recipients }] satisfies Callee[], []],
  ['a mail to all super admins', [], recipients],
])(
  '%s has one delivery for each of more than 100 recipients',
  { timeout: 60_000 },
  async (_what, order, superAdmins) => {
    const tenant = await app.newTenant();
    const alertId = await newAlert(app, tenant);
    const page = { alertId, eventId: randomUUID(), occurredAt: new Date().toISOString(), scheduleId: randomUUID() };
    const input = { ...page, escalationMinutes: 5, escalationRounds: 1, order, superAdmins };
    const execution = { tenantId: tenant.tenantId, actor: system('test') };
    orThrow(await app.services.executor.execute(startPage, input, execution));
    const addresses = await eventually(() => addressees(tenant));
    expect([...addresses].sort()).toEqual(recipients.map(({ address }) => address).sort());
  },
);
