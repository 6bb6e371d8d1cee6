import { z } from 'zod';
import { issueEnrollmentToken } from '../../../../../commands/enrollment/issue-enrollment-token.ts';
import { revokeEnrollmentToken, TOKEN_USED } from '../../../../../commands/enrollment/revoke-enrollment-token.ts';
import {
  enrollmentTokenStatuses,
  enrollmentTokenView,
  enrollmentTokenOrder,
  listEnrollmentTokens,
  validEnrollmentTokens,
} from '../../../../../queries/enrollment/list-enrollment-tokens.ts';
import {
  identifyToken,
  LONG_LIVED_DAYS,
  MANY_LONG_LIVED,
  newEnrollmentToken,
} from '../../../../contexts/enrollment/domain/enrollment-token.ts';
import {
  extensionAddress,
  type ExtensionAddressSettings,
} from '../../../../contexts/enrollment/domain/extension-address.ts';
import { FailureError, notFound } from '../../../../platform/kernel/failure.ts';
import { uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import { admin, adminReauthenticatedWhere } from '../../access.ts';
import { enrollmentArchive, type EnrollmentConfig } from './enrollment-archive.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { toPage } from '../../list-query.ts';
import type { AdminPrincipal } from '../../principal.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { Limits } from '../../../config/limits.ts';
import { ruleBetween } from '../../../../platform/kernel/rule-between.ts';

export interface EnrollmentRouteDependencies {
  readonly config: ExtensionAddressSettings;
  readonly lookups: Lookups;
  readonly limits: Limits;
}

const route = routeWith<EnrollmentRouteDependencies>();

const base = '/api/v1/admin/enrollment';
const expiresInDays = z.int().min(1).nullish();
const token = z.object({ token: z.string(), expiresAt: z.iso.datetime() });
const issued = token.extend({ id: z.uuid() });
const enrollmentConfig = token.extend({ tenantId: z.uuid(), apiEndpoint: z.string() });

type Admin<Body> = Pick<HandlerContext<undefined, undefined, Body, AdminPrincipal>, 'run' | 'fresh' | 'principal'>;

interface Issue {
  readonly expiresInDays: number | null;
  readonly userId: string | null;
  readonly batchId: string | null;
  readonly batchSize?: number;
}

async function issueToken(
  { run, fresh, principal: { reauthenticated } }: Admin<unknown>,
  issue: Issue,
  place = 0,
): Promise<z.output<typeof issued>> {
  const token = newEnrollmentToken((size) => fresh.bytes(`token ${place}`, size));
  const identity = identifyToken(token);
  const { result } = await run(
    issueEnrollmentToken,
    { ...identity, ...issue, reauthenticated },
    undefined,
    String(place),
  );
  return { id: identity.tokenId, token, expiresAt: result.expiresAt };
}

/** Concurrent commands, about one group commit of the event store. More would only wait for each other. */
const WAVE = 100;

async function issueTokens(call: Admin<unknown>, count: number, issue: Issue): Promise<z.output<typeof issued>[]> {
  const tokens: z.output<typeof issued>[] = [];
  while (tokens.length < count) {
    const wave = Array.from({ length: Math.min(WAVE, count - tokens.length) }, (_, at) =>
      issueToken(call, issue, tokens.length + at),
    );
    tokens.push(...(await Promise.all(wave)));
  }
  return tokens;
}

/** Maximum number of tokens that one request revokes. The caller repeats the request for the rest. */
const MAX_REVOKED = 10_000;

/** Revokes a token. Returns false if it enrolled a device meanwhile, which also ends its validity. */
async function revokeUnlessUsed({ run }: Pick<Admin<unknown>, 'run'>, tokenId: string): Promise<boolean> {
  try {
    await run(revokeEnrollmentToken, { tokenId });
    return true;
  } catch (error) {
    if (error instanceof FailureError && error.failure === TOKEN_USED) return false;
    throw error;
  }
}

async function revokeAll(call: Pick<Admin<unknown>, 'run'>, tokenIds: readonly string[]): Promise<number> {
  let revoked = 0;
  for (let from = 0; from < tokenIds.length; from += WAVE) {
    const outcomes = await Promise.all(
      tokenIds.slice(from, from + WAVE).map((tokenId) => revokeUnlessUsed(call, tokenId)),
    );
    revoked += outcomes.filter(Boolean).length;
  }
  return revoked;
}

async function apiEndpoint({ lookups, config }: EnrollmentRouteDependencies, tenantId: TenantId): Promise<string> {
  const tenant = await lookups.tenant(tenantId, tenantId);
  if (!tenant) throw new FailureError(notFound());
  return extensionAddress(config, tenant.externalBaseUrl);
}

export const enrollmentRoutes: RouteGroup<EnrollmentRouteDependencies> = {
  area: 'enrollment-admin',
  routes: [
    route({
      method: 'POST',
      path: `${base}/token`,
      access: adminReauthenticatedWhere('enrollment:write', 'the token is bound to an employee'),
      summary: 'Issue an enrollment token',
      description:
        'The token enrolls one device. It is valid for `expiresInDays` (30 by default), but not longer than the license. With `userId` the device belongs to that employee, otherwise to a placeholder.',
      body: z.object({ expiresInDays, userId: uuid().nullish() }).nullish(),
      status: 201,
      response: issued,
      handle: (call) =>
        issueToken(call, {
          expiresInDays: call.body?.expiresInDays ?? null,
          userId: call.body?.userId ?? null,
          batchId: null,
        }),
    }),
    route({
      method: 'POST',
      path: `${base}/bulk-config`,
      isBulk: true,
      access: adminReauthenticatedWhere(
        'enrollment:write',
        `the request issues ${MANY_LONG_LIVED} tokens or more that are valid for more than ${LONG_LIVED_DAYS} days`,
      ),
      summary: 'Issue up to 1,000 enrollment configurations',
      operation: 'issueEnrollmentConfigs',
      description:
        'Each contains a token and the settings that a browser needs to enroll, as JSON or as a zip of files. They can be revoked together by their `batchId`.',
      body: z.object({
        count: z.int().min(1).max(1_000),
        format: z.enum(['json', 'zip']).default('json'),
        expiresInDays,
      }),
      status: 200,
      response: z.object({ configs: z.array(enrollmentConfig), total: z.int(), batchId: z.uuid() }),
      otherMedia: { 'application/zip': 'file' },
      sends: ['Content-Disposition'],
      handle: (call) =>
        call.services.limits.archives.run(call.principal.tenantId, async () => {
          const { body, principal, services, reply, fresh } = call;
          const { tenantId } = principal;
          const endpoint = await apiEndpoint(services, tenantId);
          const batchId = fresh.id('batch');
          const tokens = await issueTokens(call, body.count, {
            expiresInDays: body.expiresInDays ?? null,
            userId: null,
            batchId,
            batchSize: body.count,
          });
          const configs: EnrollmentConfig[] = tokens.map(({ token, expiresAt }) => ({
            token,
            expiresAt,
            tenantId,
            apiEndpoint: endpoint,
          }));
          if (body.format === 'json') return { configs, total: configs.length, batchId };
          reply.type('application/zip').header('content-disposition', 'attachment; filename="enrollment-configs.zip"');
          return enrollmentArchive(configs);
        }),
    }),
    route({
      method: 'GET',
      path: `${base}/tokens`,
      access: admin('enrollment:read'),
      summary: 'List enrollment tokens',
      description: 'Newest first; never the tokens themselves.',
      query: z.object({
        ...keysetQuery(enrollmentTokenOrder),
        status: z.enum(enrollmentTokenStatuses).optional(),
        batch_id: uuid().optional(),
        user_id: uuid().optional(),
      }),
      response: z.object({ tokens: z.array(enrollmentTokenView), ...keysetView }),
      handle: async ({ ask, query }) =>
        withNextMark(
          enrollmentTokenOrder,
          await ask(listEnrollmentTokens, {
            ...toPage(query),
            status: query.status,
            batchId: query.batch_id,
            userId: query.user_id,
          }),
        ),
    }),
    route({
      method: 'DELETE',
      path: `${base}/tokens/{tokenID}`,
      access: admin('enrollment:write'),
      summary: 'Revoke an enrollment token',
      refuses: ['enrollment_token_used'],
      description: '409 if a device has used the token: revoke the device instead.',
      params: z.object({ tokenID: uuid() }),
      handle: async ({ run, params: { tokenID: tokenId } }) => {
        await run(revokeEnrollmentToken, { tokenId });
      },
    }),
    route({
      method: 'POST',
      path: `${base}/tokens/revoke`,
      isBulk: true,
      access: admin('enrollment:write'),
      summary: 'Revoke the valid enrollment tokens of a batch or of the tenant',
      description: 'At most 10,000 per request. Repeat the request while `remaining` is true.',
      refuses: ['not_found'],
      body: z
        .object({ batchId: uuid().optional(), all: z.literal(true).optional() })
        .check(
          ruleBetween(['batchId', 'all'], ({ batchId, all }) =>
            (batchId === undefined) !== (all === undefined) ? undefined : 'or all is required, and not both',
          ),
        ),
      response: z.object({ revoked: z.int(), remaining: z.boolean() }),
      handle: async ({ run, ask, body: { batchId } }) => {
        const tokenIds = await ask(validEnrollmentTokens, { batchId, most: MAX_REVOKED + 1 });
        const revoked = await revokeAll({ run }, tokenIds.slice(0, MAX_REVOKED));
        return { revoked, remaining: tokenIds.length > MAX_REVOKED };
      },
    }),
    route({
      method: 'GET',
      path: `${base}/config`,
      access: admin('enrollment:read'),
      summary: 'Get the address at which browsers of this tenant enroll',
      description: 'The TLS listener for devices: they enroll there and stay with it.',
      response: z.object({ apiEndpoint: z.string(), tenantId: z.uuid() }),
      handle: async ({ principal: { tenantId }, services }) => ({
        apiEndpoint: await apiEndpoint(services, tenantId),
        tenantId,
      }),
    }),
  ],
};
