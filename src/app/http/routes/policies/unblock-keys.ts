import { z } from 'zod';
import { createUnblockKey } from '../../../../../commands/policies/create-unblock-key.ts';
import { NO_SUCH_KEY, redeemUnblockKey } from '../../../../../commands/policies/redeem-unblock-key.ts';
import { listUnblockKeys, unblockKeyView } from '../../../../../queries/policies/list-unblock-keys.ts';
import { hostField } from '../../../../platform/web-addresses/host-field.ts';
import { newUnblockKey, unblockKeyClaim } from '../../../../contexts/policies/domain/unblock-key.ts';
import { streamSubject } from '../../../../platform/kernel/aggregate.ts';
import { FailureError } from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin, deviceAccess } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { WithClaimHolder } from '../../../../../commands/ports.ts';

export interface UnblockKeysRouteDependencies {
  readonly ports: WithClaimHolder;
}

const route = routeWith<UnblockKeysRouteDependencies>();

const base = '/api/v1/admin/unblock-keys';
const MAX_HOURS = 7 * 24;

/** Keys with which support lets one person bypass one block (choices OP-116, OP-117). */
export const unblockKeyRoutes: RouteGroup<UnblockKeysRouteDependencies> = {
  area: 'policies',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('unblock-keys:read'),
      summary: 'List unblock keys',
      description: 'Returns all of them, newest first; never the keys themselves.',
      response: z.object({ unblockKeys: z.array(unblockKeyView), total: z.int() }),
      handle: ({ ask }) => ask(listUnblockKeys, { now: Date.now() }),
    }),
    route({
      method: 'POST',
      path: base,
      access: admin('unblock-keys:write'),
      summary: 'Create an unblock key',
      description: 'The response contains the key, once. It is valid for `expiresInHours` (1 to 168, 24 by default).',
      body: z.object({
        domain: hostField(),
        userId: uuid().nullish(),
        deviceId: uuid().nullish(),
        reason: z.string().max(2_000).default(''),
        expiresInHours: z.int().min(1).max(MAX_HOURS).default(24),
      }),
      status: 201,
      response: unblockKeyView.extend({ key: z.string() }),
      handle: async ({ run, body, principal: { adminId }, fresh }) => {
        const { domain, userId = null, deviceId = null, reason, expiresInHours } = body;
        const pickInteger = fresh.integers('unblock key');
        const { result, recordedAt } = await run(createUnblockKey, {
          domain,
          userId,
          deviceId,
          reason,
          expiresInHours,
          newKey: () => newUnblockKey(pickInteger),
        });
        const { unblockKeyId: id, key, expiresAt } = result;
        const about = { id, domain, userId, deviceId, reason, status: 'active', expiresAt, maxUses: 1, usedAt: null };
        return { ...about, createdBy: adminId, createdAt: new Date(await recordedAt()).toISOString(), key };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/ext/unblock',
      access: deviceAccess,
      summary: 'Redeem an unblock key for a site',
      operation: 'redeemUnblockKey',
      description:
        'A key can be used once. The same device gets the same response again for 24 hours, while the key is valid.',
      body: z.object({ key: z.string().min(1).max(40), domain: hostField() }),
      response: z.object({ unblocked: z.literal(true), expiresAt: z.iso.datetime() }),
      handle: async ({ run, body: { key, domain }, principal: { tenantId, deviceId, userId }, services }) => {
        const holder = await services.ports.claimHolder(tenantId, unblockKeyClaim(key));
        if (holder === undefined) throw new FailureError(NO_SUCH_KEY);
        const { result } = await run(redeemUnblockKey, {
          unblockKeyId: streamSubject(holder),
          domain,
          deviceId,
          userId,
        });
        return { unblocked: true, expiresAt: result.expiresAt };
      },
    }),
  ],
};
