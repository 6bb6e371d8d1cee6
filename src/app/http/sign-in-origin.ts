import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import {
  KNOWN_BROWSER_SECONDS,
  opaqueAccountName,
  type KnownAccountName,
  type KnownBrowsers,
} from '../../contexts/identity/known-browsers.ts';
import type { SignInOrigin } from '../../contexts/identity/sign-in-origin.ts';
import { cookiesOf } from './browser-cookie.ts';
import { giveBackIfRepeatable } from './plugins/given-back.ts';
import { networkOf } from './network.ts';
import { actorOf } from './principal.ts';
import type { ResponseHead } from './response-head.ts';

export interface VisitorDependencies {
  readonly knownBrowsers: KnownBrowsers;
}

/** The origin of a sign-in attempt: actor and source. The source is a known browser, or else the network. */
export const signInOriginOf = (request: FastifyRequest, services: VisitorDependencies): SignInOrigin => ({
  actor: actorOf(undefined, request),
  sourceOf: (account) => {
    const browser = browserOf(request, services, account);
    return browser ? `browser:${browser.id}` : `address:${addressDigest(account, networkOf(request.ip))}`;
  },
  giveBackIfRepeatable: (giveBack) => giveBackIfRepeatable(request, giveBack),
});

const browserOf = ({ headers }: FastifyRequest, { knownBrowsers }: VisitorDependencies, account: KnownAccountName) => {
  if (headers.cookie === undefined) return undefined;
  const cookies = cookiesOf(headers.cookie);
  return knownBrowsers.recognize(
    account,
    cookies.get(cookieName(account, true)) ?? cookies.get(cookieName(account, false)),
    Date.now(),
  );
};

/** After a sign-in: from now on, failed attempts of this browser count separately. Clients may ignore the cookie. */
export function issueBrowserCookie(
  request: FastifyRequest,
  reply: ResponseHead,
  services: VisitorDependencies,
  account: KnownAccountName,
  externalBaseUrl: string,
): void {
  const known = browserOf(request, services, account);
  if (known && !known.isDueForRenewal) return;
  const secure = externalBaseUrl.toLowerCase().startsWith('https:');
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${KNOWN_BROWSER_SECONDS}${secure ? '; Secure' : ''}`;
  reply.header(
    'set-cookie',
    `${cookieName(account, secure)}=${services.knownBrowsers.issue(account, Date.now())}; ${attributes}`,
  );
}

/** `__Host-` (RFC 6265bis §4.1.3): no sibling host can set it. */
const cookieName = (account: KnownAccountName, secure: boolean): string =>
  `${secure ? '__Host-' : ''}castellan-browser-${opaqueAccountName(account)}`;

/** Differs per account: events show that attempts share a source, but cannot be linked across accounts. */
const addressDigest = ({ scope, accountDigest }: KnownAccountName, network: string): string =>
  createHash('sha256').update(`${scope}|${accountDigest}|${network}`).digest('hex').slice(0, 24);
