import { z } from 'zod';
import { issueEnrollmentToken } from '../../../commands/enrollment/issue-enrollment-token.ts';
import { identifyToken, newEnrollmentToken } from '../../domain/enrollment/enrollment-token.ts';
import { FailureError, notFound } from '../../kernel/failure.ts';
import type { TenantId } from '../../kernel/ids.ts';
import type { Services } from '../../services.ts';
import { admin } from '../access.ts';
import { enrollmentArchive, type EnrollmentConfig } from '../enrollment-archive.ts';
import type { AdminPrincipal } from '../principal.ts';
import { route, type Call, type RouteGroup } from '../route.ts';

const base = '/api/v1/admin/enrollment';
const issued = z.object({ token: z.string(), expiresAt: z.iso.datetime() });
const config = issued.extend({ tenantId: z.uuid(), apiEndpoint: z.string() });

type Admin<Body> = Pick<Call<undefined, undefined, Body, AdminPrincipal>, 'run' | 'fresh'>;

async function issueToken({ run, fresh }: Admin<unknown>, expiresInDays: number | null, place = 0): Promise<z.output<typeof issued>> {
  const token = newEnrollmentToken((size) => fresh.bytes(`token ${place}`, size));
  const { result } = await run(issueEnrollmentToken, { ...identifyToken(token), expiresInDays }, undefined, String(place));
  return { token, expiresAt: result.expiresAt };
}

/** As many at once as the event store likes in one group; a thousand loose promises would only wait for each other. */
const WAVE = 100;

async function issueTokens(call: Admin<unknown>, count: number): Promise<z.output<typeof issued>[]> {
  const tokens: z.output<typeof issued>[] = [];
  while (tokens.length < count) {
    const wave = Array.from({ length: Math.min(WAVE, count - tokens.length) }, (_, at) => issueToken(call, null, tokens.length + at));
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
      summary: 'Issue a token that enrolls one device',
      body: z.object({ expiresInDays: z.int().min(1).nullish() }).nullish(),
      status: 201,
      answer: issued,
      handle: (call) => issueToken(call, call.body?.expiresInDays ?? null),
    }),
    route({
      method: 'POST',
      path: `${base}/bulk-config`,
      access: admin('enrollment:write'),
      summary: 'Issue many tokens, with what else a browser needs to enroll, as JSON or as a zip of files',
      body: z.object({ count: z.int().min(1).max(1_000), format: z.enum(['json', 'zip']).default('json') }),
      status: 200,
      answer: z.object({ configs: z.array(config), total: z.int() }),
      handle: async (call) => {
        const { body, principal, services, reply } = call;
        const { tenantId } = principal;
        const endpoint = await apiEndpoint(services, tenantId);
        const tokens = await issueTokens(call, body.count);
        const configs: EnrollmentConfig[] = tokens.map((token) => ({ ...token, tenantId, apiEndpoint: endpoint }));
        if (body.format === 'json') return { configs, total: configs.length };
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
