import type { FastifyReply } from 'fastify';
import type { Readable } from 'node:stream';
import type { FairLimiter } from '../../platform/fairness/fair-limiter.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

/** A file that is written as it is read. It counts among the tenant's exports until its client has it or is gone. Throws `TooBusy`. */
export function sendExport(
  reply: FastifyReply,
  exports: FairLimiter,
  tenantId: TenantId,
  file: { readonly name: string; readonly type: string },
  body: () => Readable,
): FastifyReply {
  // Without a queue there is nothing to wait for: it throws, or the place is taken.
  void exports.enter(tenantId);
  reply.raw.once('close', () => exports.leave(tenantId));
  reply.header('content-disposition', `attachment; filename="${file.name}"`).type(`${file.type}; charset=utf-8`);
  return reply.send(body());
}
