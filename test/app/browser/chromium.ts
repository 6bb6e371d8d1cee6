import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';

/** Where Chromium is: named by `CHROMIUM_PATH`, or found on the path. */
export function findChromium(): string | undefined {
  const names = [process.env['CHROMIUM_PATH'], 'chromium', 'chromium-browser', 'google-chrome'];
  return names
    .map((name) => name && onPath(name))
    .find((path) => path && spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0);
}

function onPath(name: string): string | undefined {
  if (isAbsolute(name)) return name;
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

export const launchChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    // Its sandbox refuses to run as root; all content that it loads here is trusted.
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
    ],
  });

export interface WatchedPage {
  readonly page: Page;
  /** What a browser reported: errors in scripts, violations of the page's policy, requests to other hosts. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** A fresh browser: no state is kept from one to the next. */
export async function openPage(browser: Browser, scheme: 'light' | 'dark' = 'light'): Promise<WatchedPage> {
  const context = await browser.newContext({ colorScheme: scheme, reducedMotion: 'reduce' });
  // Before the test's own timeout, so that the waiting step is named.
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  await context.addInitScript(() => {
    const { console } = globalThis;
    const { document } = globalThis as unknown as {
      document: {
        addEventListener(
          type: string,
          listener: (event: { violatedDirective: string; blockedURI: string }) => void,
        ): void;
      };
    };
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error(`policy violated: ${violatedDirective} ${blockedURI}`),
    );
  });
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    // A refusal by the API is a valid response, which the browser logs as an error all the same.
    if (
      message.text().startsWith('Failed to load resource: the server responded with a status of 4') &&
      new URL(message.location().url).pathname.startsWith('/api/')
    )
      return;
    complaints.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol !== 'data:' && hostname !== '127.0.0.1') complaints.push(`request to ${hostname}`);
  });
  return { page, complaints, close: () => context.close() };
}
