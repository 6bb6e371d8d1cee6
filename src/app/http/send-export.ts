import type { Readable } from 'node:stream';
import type { FairLimiter } from '../../platform/fairness/fair-limiter.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { whenResponseCloses } from './when-response-closes.ts';
import type { ResponseHead } from './response-head.ts';

/** Streams a file. It counts as a running export of the tenant until the connection closes. Throws `TooBusy`. */
export function sendExport(
  reply: ResponseHead,
  exports: FairLimiter,
  tenantId: TenantId,
  file: { readonly name: string; readonly type: string },
  body: () => Readable,
): Readable {
  // The limiter has no queue, so this either throws or enters at once.
  void exports.enter(tenantId);
  whenResponseCloses(reply, () => exports.leave(tenantId));
  reply.header('content-disposition', `attachment; filename="${file.name}"`).type(`${file.type}; charset=utf-8`);
  return body();
}
