import type { FastifyInstance, FastifyRequest } from 'fastify';
import type {
  RefusedScimClient,
  RefusedScimClients,
  RefusedSecretOf,
} from '../../../contexts/scim/refused-scim-clients.ts';
import { actorOf } from '../principal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    refusedScimClient: RefusedScimClient | undefined;
  }
}

/** For whoever checks the secret of a SCIM client. Later the connection may be gone, and with it the address. */
export const refusedIn =
  (request: FastifyRequest) =>
  (refused: RefusedSecretOf): void => {
    request.refusedScimClient = { ...refused, actor: actorOf(undefined, request) };
  };

/** Records refused clients after the response: it must be the same, and take as long, whoever exists. */
export function recordRefusedScimClients(
  app: FastifyInstance,
  { refusedScimClients }: { readonly refusedScimClients: RefusedScimClients },
): void {
  app.decorateRequest('refusedScimClient', undefined);
  app.addHook('onResponse', ({ refusedScimClient }, { statusCode }, done) => {
    if (refusedScimClient && statusCode === 401) refusedScimClients.note(refusedScimClient);
    done();
  });
}
