import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { issueEnrollmentToken } from '../../../commands/enrollment/issue-enrollment-token.ts';
import { identifyToken, newEnrollmentToken } from '../../domain/enrollment/enrollment-token.ts';
import { FailureError, notFound } from '../../kernel/failure.ts';
import { uuid, type TenantId } from '../../kernel/ids.ts';
import type { Services } from '../../services.ts';
import { admin } from '../access.ts';
import { enrollmentArchive, type EnrollmentConfig } from '../enrollment-archive.ts';
import type { AdminPrincipal } from '../principal.ts';
import { route, type Call, type RouteGroup } from '../route.ts';

const base = '/api/v1/admin/enrollment';
const expiresInDays = z.int().min(1).nullish();
const token = z.object({ token: z.string(), expiresAt: z.iso.datetime() });
const issued = token.extend({ id: z.uuid() });
const config = token.extend({ tenantId: z.uuid(), apiEndpoint: z.string() });

type Admin<Body> = Pick<Call<undefined, undefined, Body, AdminPrincipal>, 'run'>;

interface Issue {
  readonly expiresInDays: number | null;
  readonly userId: string | null;
  readonly batchId: string | null;
}

async function issueToken({ run }: Admin<unknown>, issue: Issue): Promise<z.output<typeof issued>> {
  const token = newEnrollmentToken();
  const identity = identifyToken(token);
  const { result } = await run(issueEnrollmentToken, { ...identity, ...issue });
  return { id: identity.tokenId, token, expiresAt: result.expiresAt };
}

/** As many at once as the event store likes in one group; a thousand loose promises would only wait for each other. */
const WAVE = 100;

async function issueTokens(call: Admin<unknown>, count: number, issue: Issue): Promise<z.output<typeof issued>[]> {
  const tokens: z.output<typeof issued>[] = [];
  while (tokens.length < count) {
    const wave = Array.from({ length: Math.min(WAVE, count - tokens.length) }, () => issueToken(call, issue));
    tokens.push(...(await Promise.all(wave)));
  }
  return tokens;
}

async function apiEndpoint({ lookups }: Services, tenantId: TenantId): Promise<string> {
  const tenant = await lookups.tenant(tenantId, tenantId);
  if (!tenant) throw new FailureError(notFound());
  return tenant.externalBaseUrl;
}

export const enrollmentRoutes: RouteGroup = {
  area: 'enrollment-admin',
  routes: [
    route({
      method: 'POST',
      path: `${base}/token`,
      access: admin('enrollment:write'),
      summary:
        'Issue a token that enrolls one device, for 30 days unless `expiresInDays` says otherwise, and never beyond the license. With `userId` the device is that employee\'s; without, a placeholder\'s',
      body: z.object({ expiresInDays, userId: uuid().nullish() }).nullish(),
      status: 201,
      answer: issued,
      handle: (call) => issueToken(call, { expiresInDays: call.body?.expiresInDays ?? null, userId: call.body?.userId ?? null, batchId: null }),
    }),
    route({
      method: 'POST',
      path: `${base}/bulk-config`,
      access: admin('enrollment:write'),
      summary: 'Issue up to 1,000 tokens, each with what else a browser needs to enroll, as JSON or as a zip of files; they can be revoked together by their `batchId`',
      body: z.object({ count: z.int().min(1).max(1_000), format: z.enum(['json', 'zip']).default('json'), expiresInDays }),
      status: 200,
      answer: z.object({ configs: z.array(config), total: z.int(), batchId: z.uuid() }),
      handle: async (call) => {
        const { body, principal, services, reply } = call;
        const { tenantId } = principal;
        const endpoint = await apiEndpoint(services, tenantId);
        const batchId = randomUUID();
        const tokens = await issueTokens(call, body.count, { expiresInDays: body.expiresInDays ?? null, userId: null, batchId });
        const configs: EnrollmentConfig[] = tokens.map(({ token, expiresAt }) => ({ token, expiresAt, tenantId, apiEndpoint: endpoint }));
        if (body.format === 'json') return { configs, total: configs.length, batchId };
        reply.type('application/zip').header('content-disposition', 'attachment; filename="enrollment-configs.zip"');
        return enrollmentArchive(configs);
      },
    }),
    route({
      method: 'GET',
      path: `${base}/config`,
      access: admin('enrollment:read'),
      summary: 'Where browsers of this tenant enroll',
      answer: z.object({ apiEndpoint: z.string(), tenantId: z.uuid() }),
      handle: async ({ principal: { tenantId }, services }) => ({ apiEndpoint: await apiEndpoint(services, tenantId), tenantId }),
    }),
  ],
};
