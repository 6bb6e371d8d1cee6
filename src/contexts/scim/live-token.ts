import type { Lookups } from '../identity/lookups.ts';
import type { ScimToken, ScimTokens } from './access-tokens.ts';
import { readClientName } from './domain/client-names.ts';
import type { RefusedSecretOf } from './refused-scim-clients.ts';
import { isLiveSecret, presentedSecret, type ScimClient } from './domain/clients.ts';

export interface LiveScimToken {
  readonly token: ScimToken;
  readonly client: ScimClient;
}

interface TokenDependencies {
  readonly scimTokens: ScimTokens;
  readonly lookups: Pick<Lookups, 'scimClient'>;
}

/** What SCIM admits: an issued token, or a lasting one. `refuses` gets the secret of a client that exists. */
export const admittedScimToken = async (
  presented: string,
  services: TokenDependencies,
  refuses: (refused: RefusedSecretOf) => void,
): Promise<LiveScimToken | undefined> =>
  (await lastingScimToken(presented, services, refuses)) ?? (await liveScimToken(presented, services));

/**
 * `<clientId>.<clientSecret>`, for providers that can only send one token that they were given (0156). It works while its
 * secret is live, and needs no row.
 */
async function lastingScimToken(
  token: string,
  { scimTokens, lookups }: TokenDependencies,
  refuses: (refused: RefusedSecretOf) => void,
): Promise<LiveScimToken | undefined> {
  const dot = token.indexOf('.');
  const named = readClientName(token.slice(0, Math.max(dot, 0)));
  const client = named && (await lookups.scimClient(named.tenantId, named.id));
  if (!client) return undefined;
  const { tenantId, id: clientId } = named;
  const presented = token.slice(dot + 1);
  const secret = presentedSecret(client, presented, Date.now());
  if (!secret) {
    refuses({ tenantId, client, presented });
    return undefined;
  }
  await scimTokens.noteUse(tenantId, clientId);
  const expiresAt = secret.expiresAt === null ? Infinity : Date.parse(secret.expiresAt) / 1_000;
  return { token: { tenantId, clientId, secretId: secret.secretId, scopes: client.scopes, expiresAt }, client };
}

/**
 * A token works while its row exists, its client exists, and the secret with which it was got is live. Deletions remove
 * the rows, too; the events alone suffice if a process dies in between. Of its scopes, those count that the client still
 * has (OP-600): the row stays as it was issued.
 */
export async function liveScimToken(
  presented: string,
  { scimTokens, lookups }: TokenDependencies,
): Promise<LiveScimToken | undefined> {
  const token = await scimTokens.find(presented);
  const client = token && (await lookups.scimClient(token.tenantId, token.clientId));
  const secret = client?.secrets.find(({ secretId }) => secretId === token?.secretId);
  if (!token || !client || !secret || !isLiveSecret(secret, Date.now())) return undefined;
  const scopes = token.scopes.filter((scope) => client.scopes.includes(scope));
  return { token: { ...token, scopes }, client };
}
