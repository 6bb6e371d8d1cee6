import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PUBLIC_DESTINATION } from '../../../src/platform/outbound/destinations.ts';
import { explainedFetch } from '../../../src/platform/outbound/explained-fetch.ts';
import { NO_PRIVATE_NETWORKS } from '../../../src/platform/outbound/private-networks.ts';

const server = createServer((_request, response) => response.end('x'.repeat(4_096)));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.close());

it('a document that is too large is said to be that, with the limit', async () => {
  const outbound = { devMode: true, outboundNetworks: NO_PRIVATE_NETWORKS };
  const fetch = explainedFetch(outbound, PUBLIC_DESTINATION, { maxBytes: 2_048 });
  const asked = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await expect(asked).rejects.toThrow('what it returned is larger than 2 KiB');
});
