import type { Lookups } from '../identity/lookups.ts';
import { readClientName, type ClientName } from './domain/client-names.ts';
import { presentedSecret, type ScimClient, type ScimClientSecret } from './domain/clients.ts';
import type { ScimScope } from './domain/client-events.ts';
import type { RefusedSecretOf } from './refused-scim-clients.ts';

/** The codes of RFC 6749 §5.2 (OP-216). */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'server_error'
  | 'temporarily_unavailable';

export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  constructor(code: OAuthErrorCode, description: string) {
    super(description);
    this.name = 'OAuthError';
    this.code = code;
  }
}

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface AuthenticatedClient extends ClientName {
  readonly client: ScimClient;
  readonly secret: ScimClientSecret;
}

/** The parameters of a request that name the client. */
interface BodyCredentials {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
}

const formDecoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
};

/** RFC 6749 §2.3.1: name and secret are form-encoded before they become a user name and a password. */
function basicCredentials(header: string): ClientCredentials | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(header) ?? [];
  const decoded = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  const [clientId, clientSecret] = [formDecoded(decoded.slice(0, colon)), formDecoded(decoded.slice(colon + 1))];
  return colon < 0 || clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret };
}

/** A client uses one method: the header, or the body (RFC 6749 §2.3). */
export function credentialsOf(header: string | undefined, body: BodyCredentials): ClientCredentials {
  const { clientId, clientSecret } = body;
  if (header !== undefined) {
    const basic = basicCredentials(header);
    if (!basic) throw new OAuthError('invalid_client', 'the Authorization header is not valid');
    if (clientSecret !== undefined) throw new OAuthError('invalid_request', 'authenticate the client in one way only');
    if (clientId !== undefined && clientId !== basic.clientId)
      throw new OAuthError('invalid_request', 'clientId differs from the Authorization header');
    return basic;
  }
  if (clientId === undefined || clientSecret === undefined)
    throw new OAuthError('invalid_client', 'client authentication is missing');
  return { clientId, clientSecret };
}

/** The same refusal for an unknown client and a wrong secret. `refuses` gets the secret of a client that exists. */
export async function authenticateClient(
  { clientId, clientSecret }: ClientCredentials,
  lookups: Pick<Lookups, 'scimClient'>,
  refuses: (refused: RefusedSecretOf) => void,
): Promise<AuthenticatedClient> {
  const named = readClientName(clientId);
  const client = named && (await lookups.scimClient(named.tenantId, named.id));
  const secret = presentedSecret(client, clientSecret, Date.now());
  if (named && client && secret) return { ...named, client, secret };
  if (named && client) refuses({ tenantId: named.tenantId, client, presented: clientSecret });
  throw new OAuthError('invalid_client', 'client authentication failed');
}

/** Scopes are separated by spaces (F254). None requested: all scopes of the client (OP-219). */
export function grantedScopes(
  { scopes }: Pick<ScimClient, 'scopes'>,
  requested: string | undefined,
): readonly ScimScope[] {
  const wanted = new Set((requested ?? '').split(' ').filter((scope) => scope !== ''));
  if (wanted.size === 0) return scopes;
  const granted = scopes.filter((scope) => wanted.delete(scope));
  if (wanted.size > 0) throw new OAuthError('invalid_scope', 'the client has no such scope');
  return granted;
}
