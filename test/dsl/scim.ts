import { httpClient, type Client, type TestApp, type TestResponse, type TestTenant } from './app.ts';

export interface TestScimClient {
  /** The UUID, as events and read models name the client. */
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly secretId: string;
}

/** A SCIM client of the tenant, made over HTTP. */
export async function newScimClient(tenant: TestTenant, over: object = {}): Promise<TestScimClient> {
  const made = await tenant.admin.post('/api/v1/admin/scim/clients', { name: 'Identity provider', ...over });
  if (made.status !== 201) throw new Error(`no SCIM client: ${made.status} ${made.text}`);
  return { ...made.body, secretId: made.body.credentials[0].id };
}

export const form = (parameters: Record<string, string>) => ({
  raw: new URLSearchParams(parameters).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});

export const basic = ({ clientId, clientSecret }: Pick<TestScimClient, 'clientId' | 'clientSecret'>) =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;

export const askForToken = (
  app: Pick<TestApp, 'anonymous'>,
  { clientId, clientSecret }: Pick<TestScimClient, 'clientId' | 'clientSecret'>,
  over: object = {},
): Promise<TestResponse> =>
  app.anonymous.post('/oauth/token', { grantType: 'client_credentials', clientId, clientSecret, ...over });

/** An HTTP client with a token of this SCIM client. */
export async function scimAs(app: TestApp, client: TestScimClient, scope?: string): Promise<Client> {
  const { body } = await askForToken(app, client, scope === undefined ? {} : { scope });
  return httpClient(app.url, {
    authorization: `Bearer ${body.accessToken as string}`,
    'content-type': 'application/scim+json',
  });
}

export const SCIM_USERS = '/scim/v2/Users';
export const SCIM_GROUPS = '/scim/v2/Groups';
export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

export const patchBody = (...Operations: object[]) => ({ body: { schemas: [PATCH_SCHEMA], Operations } });
export const filtered = (path: string, filter: string, more = ''): string =>
  `${path}?filter=${encodeURIComponent(filter)}${more}`;
