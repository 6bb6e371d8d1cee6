import { randomUUID } from 'node:crypto';
import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { OrgRole } from '../../src/contexts/identity/domain/roles.ts';
import { openSession } from '../../src/contexts/identity/sign-in.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import { createOrganizationAsOperator } from '../../src/app/cli/organization-commands.ts';
import type { Client, TestApp } from './app.ts';

export interface TestOrganization {
  readonly organizationId: TenantId;
  readonly slug: string;
  readonly email: string;
  readonly password: string;
  readonly owner: Client;
  readonly token: string;
  /** A single-use token of the owner's session, by their password. */
  reauthenticate(): Promise<string>;
  /** Like `reauthenticate`, without password hashing. */
  proof(): Promise<string>;
  /** The owner, with a new proof for each call. */
  write(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): ReturnType<Client['send']>;
}

/** An organization whose owner is signed in with the generated password. */
export async function newOrganization(
  app: TestApp,
  name = `Org ${randomUUID().slice(0, 8)}`,
  externalBaseUrl?: string,
): Promise<TestOrganization> {
  const email = `owner-${randomUUID().slice(0, 8)}@mssp.example`;
  const { organizationId, slug, password } = await createOrganizationAsOperator(app.services, {
    name,
    ownerEmail: email,
    externalBaseUrl,
  });
  await chosenByOwner(app, organizationId);
  await app.settled();
  const answer = await app.anonymous.post('/api/v1/org/auth/login', { email, password });
  if (answer.status !== 200) throw new Error(`not signed in: ${answer.status} ${answer.text}`);
  const token = answer.body.accessToken as string;
  const owner = app.as(token);
  const reauthenticate = async () =>
    (await owner.post('/api/v1/org/verify-password', { password })).body.reAuthToken as string;
  const { subjectId, sessionId } = (await app.services.accessTokens.verify(token))!;
  const proof = () =>
    app.services.oneTimeTokens.issue(
      'org-reauth',
      { tenantId: organizationId, subjectId, payload: { sessionId } },
      300,
    );
  return {
    organizationId,
    slug,
    email,
    password,
    owner,
    token,
    reauthenticate,
    proof,
    write: async (method, path, body) =>
      owner.send(method, path, { body, headers: { 'x-reauth-token': await proof() } }),
  };
}

/** As if the owner had changed the temporary password, without password hashing. */
async function chosenByOwner(app: TestApp, organizationId: TenantId): Promise<void> {
  const command = defineCommand({
    name: 'KeepPasswordForTest',
    aggregate: organization,
    stream: () => organizationStream(organizationId),
    decide: ({ admins }) =>
      accept(
        [...admins.values()].map(({ adminId, passwordRef }) => ({
          type: 'OrgAdminPasswordChanged' as const,
          data: {
            adminId,
            passwordRef,
            mustChangePassword: false,
            reason: 'changed' as const,
            passwordExpiresAt: null,
          },
        })),
      ),
  });
  orThrow(await app.services.executor.execute(command, undefined, { tenantId: organizationId, actor: system('test') }));
}

/** Another admin of an organization, signed in; appended directly, since no endpoint creates one. */
export async function orgAdminWithRole(
  app: TestApp,
  { organizationId }: TestOrganization,
  role: OrgRole,
): Promise<{ adminId: string; token: string; client: Client }> {
  const { services } = app;
  const adminId = randomUUID();
  const email = `${role}-${adminId.slice(0, 8)}@mssp.example`;
  const data = {
    adminId,
    email,
    accountDigest: services.accountDigest(email),
    displayName: role,
    role,
    passwordRef: randomUUID(),
    mustChangePassword: false,
    passwordExpiresAt: null,
  };
  const command = defineCommand({
    name: 'AddOrgAdminForTest',
    aggregate: organization,
    stream: () => organizationStream(organizationId),
    decide: () => accept([{ type: 'OrgAdminCreated' as const, data }]),
  });
  orThrow(await services.executor.execute(command, undefined, { tenantId: organizationId, actor: system('test') }));
  const session = {
    tenantId: organizationId,
    subjectId: adminId,
    subjectKind: 'org_admin',
    epoch: 0,
    role,
    method: 'password',
    actor: system('test'),
  } as const;
  const { accessToken: token } = await openSession(services, session);
  return { adminId, token, client: app.as(token) };
}
