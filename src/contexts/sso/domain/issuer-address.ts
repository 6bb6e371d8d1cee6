import { parsedUrl } from '../../../platform/kernel/parsed-url.ts';

const DISCOVERY_PATH = '/.well-known/openid-configuration';

/** Microsoft's hosts for sign-ins: of everybody, of the government of the United States, and of China. */
const MICROSOFT_HOSTS = new Set([
  'login.microsoftonline.com',
  'login.windows.net',
  'login.microsoftonline.us',
  'login.partner.microsoftonline.cn',
  'login.chinacloudapi.cn',
]);
/** The first part of the path stands for many directories: their tokens name others as issuers. */
const SHARED_DIRECTORIES = new Set(['common', 'organizations', 'consumers']);

/** Why no issuer can have this address, with what to enter instead; undefined if nothing speaks against it. */
export function wrongIssuerAddress(address: string): string | undefined {
  const url = parsedUrl(address);
  if (!url) return undefined;
  const { origin, hostname, pathname } = url;
  if (pathname.replace(/\/+$/, '').endsWith(DISCOVERY_PATH))
    return `is the address of a discovery document: leave out ${DISCOVERY_PATH}`;
  const directory = pathname.split('/')[1]?.toLowerCase() ?? '';
  return MICROSOFT_HOSTS.has(hostname) && SHARED_DIRECTORIES.has(directory)
    ? `stands for every directory of Microsoft: use ${origin}/<directory (tenant) id>/v2.0`
    : undefined;
}
