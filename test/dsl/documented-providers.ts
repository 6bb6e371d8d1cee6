/**
 * What the vendors document about their OpenID Connect providers: claims, discovery, client authentication, logout.
 * None of them was met in person here; LemonLDAP::NG was, in an earlier version.
 */
export interface DocumentedProvider {
  /** Path of the issuer, below the host. */
  readonly path: string;
  readonly clientSecret: string;
  /** `token_endpoint_auth_methods_supported`; undefined: not announced. */
  readonly authentication: readonly string[] | undefined;
  /** The endpoint compares Basic credentials without decoding them (RFC 6749 §2.3.1). */
  readonly comparesRaw?: true;
  readonly wrongSecret: { readonly status: number; readonly body: object; readonly challenge?: string };
  readonly discovery?: object;
  /** RFC 9207. */
  readonly returnsIssuer?: true;
  readonly idToken: (email: string, clientId: string) => object;
  readonly userinfo?: (email: string) => object;
  /** What the logout endpoint requires; undefined: there is none. */
  readonly logout?: 'id_token_hint' | 'client_id';
  /** What the guide tells an administrator to set. */
  readonly settings?: { readonly emailsVerified: true };
}

const invalidClient = { error: 'invalid_client', error_description: 'Client authentication failed.' };

export const DOCUMENTED: Readonly<Record<string, DocumentedProvider>> = {
  'Okta, organization server': {
    path: '',
    clientSecret: 'Wq3_xT-9aZ.k~2Lm8',
    authentication: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'],
    wrongSecret: { status: 401, body: { ...invalidClient, errorCode: 'invalid_client' } },
    discovery: { code_challenge_methods_supported: ['S256'] },
    // A thin token: an access token was asked for as well.
    idToken: () => ({ ver: 1, amr: ['pwd'], idp: '00o1', preferred_username: 'ann', name: 'Ann' }),
    userinfo: (email) => ({ email, email_verified: true, zoneinfo: 'Europe/Berlin' }),
    logout: 'id_token_hint',
  },
  'Okta, custom authorization server': {
    path: '/oauth2/default',
    clientSecret: 'Wq3_xT-9aZ.k~2Lm8',
    authentication: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'],
    wrongSecret: { status: 401, body: invalidClient },
    idToken: (email) => ({ ver: 1, email, email_verified: true }),
    logout: 'id_token_hint',
  },
  'Entra ID with xms_edov': {
    path: '/8f0c2f7e-4f7a-4c8e-9d6c-1f2e3d4c5b6a/v2.0',
    clientSecret: 'abc8Q~Zk_1.x-Y2~tokenSecretOfEntra',
    authentication: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
    wrongSecret: { status: 401, body: { error: 'invalid_client', error_codes: [7_000_215] } },
    discovery: { tenant_region_scope: 'EU', cloud_instance_name: 'microsoftonline.com' },
    idToken: (email) => ({ ver: '2.0', tid: '8f0c2f7e', oid: 'f1', preferred_username: email, email, xms_edov: true }),
    userinfo: (email) => ({ name: 'Ann', email, picture: 'https://graph.microsoft.com/v1.0/me/photo/$value' }),
    logout: 'client_id',
  },
  'Entra ID with xms_edov as text': {
    path: '/8f0c2f7e-4f7a-4c8e-9d6c-1f2e3d4c5b6a/v2.0',
    clientSecret: 'abc8Q~Zk_1.x-Y2~tokenSecretOfEntra',
    authentication: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
    wrongSecret: { status: 401, body: { error: 'invalid_client' } },
    idToken: (email) => ({ ver: '2.0', email, xms_edov: '1' }),
    logout: 'client_id',
  },
  'Entra ID as registered': {
    path: '/8f0c2f7e-4f7a-4c8e-9d6c-1f2e3d4c5b6a/v2.0',
    clientSecret: 'abc8Q~Zk_1.x-Y2~tokenSecretOfEntra',
    authentication: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
    wrongSecret: { status: 401, body: { error: 'invalid_client' } },
    idToken: (email) => ({ ver: '2.0', preferred_username: email, email }),
    userinfo: (email) => ({ name: 'Ann', email }),
    logout: 'client_id',
    settings: { emailsVerified: true },
  },
  Google: {
    path: '',
    clientSecret: 'GOCSPX-a1_B2-c3D4',
    authentication: ['client_secret_post', 'client_secret_basic'],
    wrongSecret: { status: 401, body: { error: 'invalid_client', error_description: 'Unauthorized' } },
    discovery: { code_challenge_methods_supported: ['plain', 'S256'] },
    idToken: (email, clientId) => ({ azp: clientId, email, email_verified: true, hd: 'acme.example' }),
    userinfo: (email) => ({ email, email_verified: true }),
  },
  Keycloak: {
    path: '/realms/acme',
    clientSecret: 'k3yCl0akSecretWithoutMarks',
    authentication: ['private_key_jwt', 'client_secret_basic', 'client_secret_post', 'tls_client_auth'],
    wrongSecret: { status: 401, body: { error: 'unauthorized_client' } },
    discovery: { code_challenge_methods_supported: ['plain', 'S256'], backchannel_logout_supported: true },
    returnsIssuer: true,
    idToken: (email, clientId) => ({ azp: clientId, sid: 's1', typ: 'ID', acr: '1', email, email_verified: true }),
    logout: 'id_token_hint',
  },
  'AD FS': {
    path: '/adfs',
    clientSecret: 'x5-Yz_adfs.secret~0123',
    authentication: ['client_secret_post', 'client_secret_basic', 'private_key_jwt', 'windows_client_authentication'],
    wrongSecret: { status: 400, body: { error: 'invalid_client', error_description: 'MSIS9607' } },
    discovery: { access_token_issuer: 'http://adfs.acme.example/adfs/services/trust' },
    // Claims of issuance rules are texts.
    idToken: (email) => ({ upn: email, unique_name: 'ACME\\ann', email, apptype: 'Confidential' }),
    userinfo: () => ({}),
    logout: 'id_token_hint',
    settings: { emailsVerified: true },
  },
  'LemonLDAP::NG': {
    path: '',
    clientSecret: 'lemon-secret_1.~',
    authentication: ['client_secret_post', 'client_secret_basic'],
    comparesRaw: true,
    wrongSecret: { status: 401, body: { error: 'invalid_client' }, challenge: 'Basic realm="portal"' },
    idToken: () => ({ acr: 'loa-2' }),
    userinfo: (email) => ({ email, name: 'Ann' }),
    logout: 'client_id',
    settings: { emailsVerified: true },
  },
  'a provider that announces nothing': {
    path: '/idp/',
    clientSecret: 'plain-secret.1_~',
    authentication: undefined,
    comparesRaw: true,
    wrongSecret: { status: 401, body: {}, challenge: 'Basic' },
    idToken: (email) => ({ email, email_verified: true }),
  },
};
