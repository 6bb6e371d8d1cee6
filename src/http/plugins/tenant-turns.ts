import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EndTurn } from '../../fairness/tenant-turns.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Services } from '../../services.ts';
import { clientAddress } from '../client-address.ts';

/** Before anything of the body is read. Policy fetches of browsers go at once: they are short, and counted by device. */
export async function awaitTurn(request: FastifyRequest, reply: FastifyReply, { limits }: Services): Promise<void> {
  const { principal, method } = request;
  if (!principal || (principal.kind === 'device' && method === 'GET')) return;
  const caller = principal.kind === 'device' ? principal.deviceId : principal.adminId;
  await hold(request, reply, limits.tenants.enter(principal.tenantId, caller));
}

/** Whoever is nobody yet waits with others who name the same tenant, or none on the same route. */
export async function awaitStrangersTurn(request: FastifyRequest, reply: FastifyReply, { limits }: Services): Promise<void> {
  await hold(request, reply, limits.tenants.enterStranger(namedTenant(request) ?? `at ${request.routeOptions.url}`, clientAddress(request.ip)));
}

async function hold(request: FastifyRequest, reply: FastifyReply, turn: EndTurn | Promise<EndTurn>): Promise<void> {
  const end = turn instanceof Promise ? await turn : turn;
  if (turn instanceof Promise) request.deadline?.restart();
  request.endTurn = end;
  // The client may have gone while it waited.
  if (reply.raw.destroyed) end();
  else reply.raw.once('close', end);
}

function namedTenant({ body, query, headers }: FastifyRequest): string | undefined {
  const named = (body as { tenantId?: unknown } | undefined)?.tenantId ?? (query as { tenant_id?: unknown } | undefined)?.tenant_id ?? headers['x-tenant-id'];
  return isUuid(named) ? named.toLowerCase() : undefined;
}
