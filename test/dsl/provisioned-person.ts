import { randomUUID } from 'node:crypto';
import { provisionEmployee } from '../../commands/employees/provision-employee.ts';
import type { ProvisionedPerson, ProvisioningSource } from '../../src/contexts/employees/domain/provisioning.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { TestApp, TestTenant } from './app.ts';

/** What a source states about somebody; `name` occurs in every name. */
export const statedPerson = (name: string, over: Partial<ProvisionedPerson> = {}): ProvisionedPerson => ({
  userName: name,
  externalId: `X-${name}`,
  email: `${name}@corp.example`,
  displayName: `N ${name}`,
  department: `D ${name}`,
  jobTitle: `J ${name}`,
  isActive: true,
  upn: null,
  sid: null,
  profile: null,
  ...over,
});

/** An employee whom a source created, shown by the read models. */
export async function provisionedPerson(
  app: TestApp,
  { tenantId }: Pick<TestTenant, 'tenantId'>,
  over: Partial<ProvisionedPerson> = {},
  source: ProvisioningSource = { kind: 'directory', id: randomUUID() },
): Promise<{ userId: string; source: ProvisioningSource; person: ProvisionedPerson }> {
  const userId = randomUUID();
  const person = statedPerson(userId.slice(0, 8), over);
  const input = { userId, source, person, ifLinked: 'refuse' } as const;
  const { executor, freshness } = app.services;
  const { position } = orThrow(await executor.execute(provisionEmployee, input, { tenantId, actor: system('test') }));
  await freshness.waitFor(['employees', 'provisioned_people'], position!, 10_000);
  return { userId, source, person };
}
