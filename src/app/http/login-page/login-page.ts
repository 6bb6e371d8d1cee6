import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface PageFile {
  readonly content: Buffer;
  readonly mediaType: string;
  /** Strong validator (RFC 9110 §8.8.3), for the conditional request that a browser sends each time. */
  readonly etag: string;
}

function pageFile(name: string, mediaType: string): PageFile {
  const content = readFileSync(new URL(name, import.meta.url));
  return { content, mediaType, etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"` };
}

const script = (name: string) => pageFile(name, 'text/javascript; charset=utf-8');

export const page = pageFile('page.html', 'text/html; charset=utf-8');

/** All files that the page loads. */
export const pageAssets = {
  'style.css': pageFile('style.css', 'text/css; charset=utf-8'),
  'icon.svg': pageFile('icon.svg', 'image/svg+xml'),
  'main.js': script('main.js'),
  'organization.js': script('organization.js'),
  'password.js': script('password.js'),
  'screens.js': script('screens.js'),
  'server.js': script('server.js'),
  'session.js': script('session.js'),
  'sso-return.js': script('sso-return.js'),
  'steps.js': script('steps.js'),
  'tenant.js': script('tenant.js'),
  'words.js': script('words.js'),
} as const satisfies Record<string, PageFile>;

/**
 * Only our own files, nothing inline. The browser must not submit forms itself: if the script failed, a password would end
 * up in the URL. Text never becomes markup, which Trusted Types enforces in browsers that support them.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
