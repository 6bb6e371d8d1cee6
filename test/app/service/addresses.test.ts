import { networkInterfaces } from 'node:os';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { startApp } from '../../dsl/app.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

describe.skipIf(!hasIpv6)('the addresses that a service names at its start', () => {
  it.each(['::1', '::'])('are URLs that can be called, at %s', async (host) => {
    const app = await startApp({ host });
    try {
      const { http, tls } = app.application.addresses;
      expect([http, tls].map((address) => new URL(address).hostname)).toEqual(
        // Fastify names an address of this machine where it listens at all of them.
        [expect.stringMatching(/^(?:\[[0-9a-f:]+\]|127\.0\.0\.1)$/), `[${host}]`],
      );
      const port = new URL(http).port;
      expect((await request(`http://[::1]:${port}/live`)).statusCode).toBe(200);
    } finally {
      await app.close();
    }
  });
});
