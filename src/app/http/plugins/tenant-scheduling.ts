import type { FastifyReply, FastifyRequest } from 'fastify';
import { PROVISIONING_QUEUE, type EndTenantSlot } from '../../../platform/fairness/tenant-scheduler.ts';
import { isUuid } from '../../../platform/kernel/ids.ts';
import { rateClassOf } from '../access.ts';
import { clientAddress } from '../client-address.ts';
import { callerIdOf } from '../principal.ts';
import { whenResponseCloses } from '../when-response-closes.ts';
import type { Limits } from '../../config/limits.ts';

export interface TenantSchedulingDependencies {
  readonly limits: Limits;
}

/**
 * Called after the body has arrived, so that slow senders do not hold a slot. Policy fetches of devices do not wait: they are
 * short, and limited per device. Anonymous requests queue by address, and then by route and named tenant. Probes and
 * static pages, which no rate limit counts, never wait: a probe that waits behind others says that a process hangs.
 */
export async function awaitTenantSlot(
  request: FastifyRequest,
  reply: FastifyReply,
  { limits: { tenants } }: TenantSchedulingDependencies,
): Promise<void> {
  const { principal, method, ip } = request;
  const access = request.routeOptions.config.declared?.access;
  if (access && rateClassOf(access) === 'none') return;
  if (principal?.kind === 'device' && (method === 'GET' || method === 'HEAD')) return;
  if (principal) {
    const queue = principal.kind === 'scim' ? PROVISIONING_QUEUE : undefined;
    return hold(request, reply, tenants.enter(principal.tenantId, callerIdOf(principal), queue));
  }
  // A client that has disconnected has no address.
  if (typeof ip !== 'string') return;
  const address = clientAddress(ip);
  await hold(request, reply, tenants.enterAnonymous(`from ${address}`, address));
  await hold(
    request,
    reply,
    tenants.enterAnonymous(`${request.routeOptions.url} ${namedTenant(request) ?? ''}`, address),
  );
}

async function hold(
  request: FastifyRequest,
  reply: FastifyReply,
  turn: EndTenantSlot | Promise<EndTenantSlot>,
): Promise<void> {
  const end = turn instanceof Promise ? await turn : turn;
  if (turn instanceof Promise) request.deadline?.restart();
  const endBefore = request.endTurn;
  request.endTurn = () => {
    end();
    endBefore?.();
  };
  // The client may have gone while it waited.
  whenResponseCloses(reply, end);
}

function namedTenant({ body, query, headers }: FastifyRequest): string | undefined {
  const named =
    (body as { tenantId?: unknown } | undefined)?.tenantId ??
    (query as { tenant_id?: unknown } | undefined)?.tenant_id ??
    headers['x-tenant-id'];
  return isUuid(named) ? named.toLowerCase() : undefined;
}
