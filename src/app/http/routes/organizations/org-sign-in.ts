import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { changeOrgPassword } from '../../../../../commands/organizations/change-org-password.ts';
import { emailField, presentedPassword } from '../../../../contexts/identity/domain/password-rule.ts';
import {
  organization,
  organizationStream,
  type OrgAdminState,
} from '../../../../contexts/organizations/domain/organization.ts';
import { orgAdminAccounts, type AccountKindsDependencies } from '../../../../contexts/identity/account-kinds.ts';
import { ORGANIZATIONS } from '../../../../contexts/identity/known-browsers.ts';
import {
  confirmOrgPassword,
  signInToOrganization,
  type OrgSignInDependencies,
} from '../../../../contexts/identity/org-sign-in.ts';
import {
  issueOrgReauthentication,
  REAUTHENTICATION_SECONDS,
  type ReauthenticationDependencies,
} from '../../../../contexts/identity/reauthentication.ts';
import { verifySecondFactor, type SecondFactorDependencies } from '../../../../contexts/identity/second-factor.ts';
import { FailureError, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { openAccess, orgReader } from '../../access.ts';
import {
  changeForcedPassword,
  forcedChangeBody,
  passwordChanged,
  type ForcedPasswordChangeDependencies,
} from '../../../../contexts/identity/forced-password-change.ts';
import { orgAdminNames, type OrgAdminNamesDependencies } from './org-admin-names.ts';
import { presentedCodeBody, presentedIn } from '../identity/presented-code.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import {
  mfaRequiredByOrganization,
  orgSignInResponse,
  passwordChangeRequired,
  signedInToOrganization,
} from '../identity/sign-in-response.ts';
import { issueBrowserCookie, signInOriginOf, type VisitorDependencies } from '../../sign-in-origin.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import type { ResponseHead } from '../../response-head.ts';

export interface OrgSignInRouteDependencies
  extends
    AccountKindsDependencies,
    ForcedPasswordChangeDependencies,
    OrgAdminNamesDependencies,
    OrgSignInDependencies,
    ReauthenticationDependencies,
    SecondFactorDependencies,
    VisitorDependencies {
  readonly loader: AggregateLoader;
}

const route = routeWith<OrgSignInRouteDependencies>();

const rememberOrgBrowser = (
  request: FastifyRequest,
  reply: ResponseHead,
  services: VisitorDependencies,
  { accountDigest }: OrgAdminState,
  externalBaseUrl: string,
): void => issueBrowserCookie(request, reply, services, { scope: ORGANIZATIONS, accountDigest }, externalBaseUrl);

/** Password sign-in of an organization's admin, with the same steps as for a tenant's admin. */
export const orgSignInRoutes: RouteGroup<OrgSignInRouteDependencies> = {
  area: 'org',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/org/auth/login',
      access: openAccess('org-login'),
      summary: 'Sign in to an organization with e-mail and password',
      operation: 'signInToOrg',
      sends: ['Set-Cookie'],
      refuses: [
        'account_locked',
        'account_suspended',
        'invalid_credentials',
        'sso_required',
        'temporary_password_expired',
        'read_side_behind',
      ],
      description:
        'Returns tokens, or a token for the next step. Without the right password, every refusal is the same 401.',
      body: z.object({
        email: emailField,
        password: presentedPassword,
        slug: z.string().trim().toLowerCase().max(100).optional(),
      }),
      response: z.union([signedInToOrganization, mfaRequiredByOrganization, passwordChangeRequired]),
      handle: async ({ body, services, request, reply, ask }) => {
        const {
          organizationId,
          organization: { externalBaseUrl },
          admin,
          next,
        } = await signInToOrganization(
          services,
          body.email,
          body.password,
          body.slug,
          signInOriginOf(request, services),
        );
        if (next.step === 'done') rememberOrgBrowser(request, reply, services, admin, externalBaseUrl);
        return orgSignInResponse(next, organizationId, admin.adminId, ask);
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/org/auth/mfa/verify',
      access: openAccess('org-login'),
      summary: 'Verify the second factor of a sign-in to an organization',
      operation: 'verifyOrgSignInCode',
      sends: ['Set-Cookie'],
      refuses: ['account_locked', 'invalid_code', 'invalid_token', 'read_side_behind'],
      description: 'Takes a code of the authenticator app or a backup code.',
      body: presentedCodeBody,
      response: z.union([signedInToOrganization, passwordChangeRequired]),
      handle: async ({ body, services, request, reply, ask }) => {
        const { tenantId, admin, next } = await verifySecondFactor(
          services,
          orgAdminAccounts,
          body.mfaToken,
          presentedIn(body),
          () => undefined,
          signInOriginOf(request, services),
        );
        if (next.step === 'done') {
          const { externalBaseUrl } = await services.loader.load(organization, organizationStream(tenantId));
          rememberOrgBrowser(request, reply, services, admin, externalBaseUrl);
        }
        return orgSignInResponse(next, tenantId, admin.adminId, ask);
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/org/auth/change-password',
      access: openAccess('org-login'),
      summary: 'Change a password that must be changed',
      operation: 'replaceTemporaryOrgPassword',
      refuses: ['invalid_token', 'password_changed_meanwhile'],
      description: 'Sign in again afterwards.',
      body: forcedChangeBody,
      response: passwordChanged,
      handle: ({ body, services, request, run }) =>
        changeForcedPassword(services, {
          purpose: orgAdminAccounts.purposes.temp,
          tempToken: body.tempToken,
          prepare: ({ tenantId, subjectId }) => orgAdminNames(services, tenantId, subjectId),
          change: async ({ tenantId, subjectId: adminId, payload }, known) => {
            const admin = await orgAdminAccounts.find(services, tenantId, adminId);
            // A suspension or recovery since then has invalidated the token.
            const isUsable = admin?.sessionEpoch === payload['epoch'];
            // Passwords may have been disabled since then.
            if (!admin || !isUsable || (await orgAdminAccounts.whyNoPasswords(services, tenantId)))
              throw new FailureError(unauthenticated('invalid_token'));
            const actor = {
              ...actorOf(undefined, request),
              kind: 'org_admin' as const,
              id: adminId,
            };
            const input = {
              adminId,
              newPassword: body.newPassword,
              provedRef: admin.passwordRef,
              keptSessionId: null,
              known,
            };
            await run(changeOrgPassword, input, { tenantId, actor });
          },
        }),
    }),
    route({
      method: 'POST',
      path: '/api/v1/org/verify-password',
      access: orgReader,
      summary: 'Get a re-authentication token',
      issuesProof: true,
      operation: 'reauthenticateOrgAdmin',
      refuses: ['invalid_credentials', 'sso_required'],
      description:
        'Confirms the password. The token is valid for one write, for 300 seconds in this session. While single sign-on is required, a sign-in with `reauthenticate=true` returns one instead.',
      body: z.object({ password: presentedPassword }),
      response: z.object({ reAuthToken: z.string(), expiresIn: z.int() }),
      handle: async ({ body, services, principal: { tenantId, adminId, sessionId }, request }) => {
        const actor = actorOf(request.principal, request);
        await confirmOrgPassword(services, { organizationId: tenantId, adminId, sessionId }, body.password, actor);
        const reAuthToken = await issueOrgReauthentication(services, { tenantId, adminId, sessionId });
        return { reAuthToken, expiresIn: REAUTHENTICATION_SECONDS };
      },
    }),
  ],
};
