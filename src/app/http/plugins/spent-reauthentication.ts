import type { FastifyInstance } from 'fastify';
import type { OneTimeTokens } from '../../../contexts/identity/one-time-tokens.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The re-authentication token of an organization's administrator that this request has used up. */
    spentReauthentication: { readonly token: string; readonly useId: string } | undefined;
  }
}

/** A request that got 503 has done nothing: whoever tries again needs the token again (choice OP-147 is about all others). */
export function giveBackReauthentication(
  app: FastifyInstance,
  { oneTimeTokens }: { readonly oneTimeTokens: Pick<OneTimeTokens, 'giveBack'> },
): void {
  app.decorateRequest('spentReauthentication', undefined);
  app.addHook('onSend', async ({ spentReauthentication: spent }, { statusCode }) => {
    if (spent && statusCode === 503) void oneTimeTokens.giveBack('org-reauth', spent.token, { useId: spent.useId });
  });
}
