import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../dsl/app.ts';
import { findChromium } from './chromium.ts';

const chromiumPath = findChromium();
/** Not a loopback name: browsers make exceptions for those. */
const HOST = 'castellan.test';

describe.skipIf(chromiumPath === undefined)(
  `the API reference in Chromium${chromiumPath === undefined ? ' (skipped: none is installed here)' : ''}`,
  () => {
    let app: TestApp;
    let browser: Browser;
    beforeAll(async () => {
      const args = [
        `--host-resolver-rules=MAP ${HOST} 127.0.0.1`,
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--disable-dev-shm-usage',
        '--disable-background-networking',
        '--disable-component-update',
      ];
      [app, browser] = await Promise.all([startApp(), chromium.launch({ executablePath: chromiumPath!, args })]);
    });
    afterAll(async () => {
      await browser.close();
      await app.close();
    });

    it('shows the operations over plain HTTP under a host name, with requests to no other host', async () => {
      const page = await browser.newPage();
      const asked: string[] = [];
      page.on('request', (request) => void asked.push(request.url()));
      await page.goto(`http://${HOST}:${new URL(app.url).port}/docs`);
      await page.locator('.opblock').first().waitFor({ timeout: 30_000 });
      const own = [`http://${HOST}:`, 'data:', 'blob:'];
      expect(asked.filter((url) => !own.some((start) => url.startsWith(start)))).toEqual([]);
    });
  },
);
