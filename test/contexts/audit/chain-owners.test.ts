import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditVerify } from '../../../src/app/cli/audit.ts';
import { INSTALLATION } from '../../../src/platform/kernel/ids.ts';
import { attachTenantAsOperator, createOrganizationAsOperator } from '../../../src/app/cli/organization-commands.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';

describe('castellan audit verify', () => {
  let app: TestApp;
  let organizationId: string;
  let tenantId: string;
  beforeAll(async () => {
    app = await startApp();
    ({ tenantId } = await app.newTenant({ name: 'Acme' }));
    ({ organizationId } = await createOrganizationAsOperator(app.services, {
      name: 'Guardians',
      ownerEmail: 'owner@guardians.example',
      externalBaseUrl: 'https://guardians.example',
    }));
    await app.settled();
    await attachTenantAsOperator(app.services, { slug: 'guardians', tenant: tenantId });
    // A stranger at a door that there is not is the installation's to remember.
    const stranger = {
      email: 'nobody@nowhere.example',
      password: 'Wrong-Horse-7!',
      tenantId: '0198a000-0000-7000-8000-000000000001',
    };
    expect((await app.anonymous.post('/api/v1/auth/login', stranger)).status).toBe(401);
    await app.settled();
  });
  afterAll(() => app.close());

  async function verified(named: Parameters<typeof auditVerify>[1] = {}) {
    const lines: string[] = [];
    const verdicts = await auditVerify(app.services, named, (line) => lines.push(line));
    return { broken: verdicts.filter(({ valid }) => !valid).length, lines };
  }

  it('holds the chains of tenants, of organizations and of the installation', async () => {
    const { broken, lines } = await verified();
    expect(broken).toBe(0);
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^valid   installation ${INSTALLATION}: [1-9]\\d* entries$`)),
      expect.stringMatching(new RegExp(`^valid   organization guardians ${organizationId}: [1-9]\\d* entries$`)),
      expect.stringMatching(new RegExp(`^valid   tenant acme ${tenantId}: [1-9]\\d* entries$`)),
    ]);
  });

  it.each([
    ['an organization', () => organizationId, { organization: 'guardians' }],
    ['the installation', () => INSTALLATION, { installation: true }],
    ['a tenant', () => tenantId, { tenant: 'acme' }],
  ])('finds a changed entry of %s', async (_whose, id, named) => {
    const { owner } = app.services.database;
    const change = (action: string) =>
      owner.query(
        `update audit_log set action = $2 where tenant_id = $1 and sequence = 1 and position > 0 returning (select action from audit_log where tenant_id = $1 and sequence = 1 and position > 0) as was`,
        [id(), action],
      );
    const was = (await change('nothing.happened')).rows[0].was as string;
    const { broken, lines } = await verified(named);
    expect([broken, lines]).toEqual([1, [expect.stringMatching(/^BROKEN .* at 1$/)]]);
    expect((await verified()).broken).toBe(1);
    await change(was);
    expect((await verified(named)).broken).toBe(0);
  });

  it('overlooks none whose owner was taken out of the directory', async () => {
    const { owner } = app.services.database;
    await owner.query('delete from organization_directory where id = $1', [organizationId]);
    const { broken, lines } = await verified();
    expect([broken, lines.filter((line) => line.includes(organizationId))]).toEqual([
      0,
      [expect.stringMatching(/^valid   listed nowhere /)],
    ]);
  });

  it('knows nobody by a wrong name, and asks for one at a time', async () => {
    await expect(verified({ organization: 'strangers' })).rejects.toThrow('there is no such organization');
    await expect(verified({ organization: tenantId })).rejects.toThrow('there is no such organization');
    await expect(verified({ tenant: organizationId })).rejects.toThrow('there is no such tenant');
    await expect(verified({ tenant: 'acme', installation: true })).rejects.toThrow(/one tenant/);
  });
});
