import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { openAccess } from '../../access.ts';
import { page, pageAssets, PAGE_POLICY, type PageFile } from '../../login-page/login-page.ts';
import { redirect } from '../../redirect.ts';
import { route, type RouteGroup } from '../../route.ts';
import type { ResponseHead } from '../../response-head.ts';

const assetNames = Object.keys(pageAssets) as [keyof typeof pageAssets];

/** Browsers cache the files but revalidate each time, so that page and scripts never differ in version. */
function serve({ content, mediaType, etag }: PageFile, request: FastifyRequest, reply: ResponseHead): Buffer | string {
  reply.headers({
    etag,
    'cache-control': 'no-cache',
    'content-security-policy': PAGE_POLICY,
    'content-type': mediaType,
  });
  if (request.headers['if-none-match'] !== etag) return content;
  reply.status(304);
  return '';
}

export const loginPageRoutes: RouteGroup = {
  area: 'login-page',
  routes: [
    route({
      method: 'GET',
      path: '/',
      access: openAccess('none'),
      summary: 'Lead browsers to the sign-in page',
      operation: 'openSignInPage',
      sends: ['Location'],
      status: 302,
      response: { media: 'text/plain' },
      handle: async ({ reply }) => redirect(reply, 302, '/login'),
    }),
    route({
      method: 'GET',
      path: '/login',
      access: openAccess('none'),
      summary: 'Show the sign-in page',
      operation: 'showSignInPage',
      sends: ['ETag'],
      description: 'For admins of tenants and organizations.',
      response: { media: 'text/html' },
      handle: async ({ request, reply }) => serve(page, request, reply),
    }),
    route({
      method: 'GET',
      path: '/login-assets/{name}',
      access: openAccess('none'),
      summary: 'Get a file of the sign-in page',
      sends: ['ETag'],
      params: z.object({ name: z.enum(assetNames) }),
      response: { media: '*/*' },
      handle: async ({ params, request, reply }) => serve(pageAssets[params.name], request, reply),
    }),
  ],
};
