import type { Lookups } from '../identity/lookups.ts';
import type { ScimToken, ScimTokens } from './access-tokens.ts';
import { isLiveSecret, type ScimClient } from './domain/clients.ts';

export interface LiveScimToken {
  readonly token: ScimToken;
  readonly client: ScimClient;
}

/**
 * A token works while its row exists, its client exists, and the secret with which it was got is live. Deletions remove
 * the rows, too; the events alone suffice if a process dies in between.
 */
export async function liveScimToken(
  presented: string,
  { scimTokens, lookups }: { readonly scimTokens: ScimTokens; readonly lookups: Pick<Lookups, 'scimClient'> },
): Promise<LiveScimToken | undefined> {
  const token = await scimTokens.find(presented);
  const client = token && (await lookups.scimClient(token.tenantId, token.clientId));
  const secret = client?.secrets.find(({ secretId }) => secretId === token?.secretId);
  if (!token || !client || !secret || !isLiveSecret(secret, Date.now())) return undefined;
  return { token, client };
}
