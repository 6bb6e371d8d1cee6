import { describe, expect, it } from 'vitest';
import { unreachableDestination } from '../../../src/platform/outbound/destinations.ts';
import { guardedFetch, OutboundRefused } from '../../../src/platform/outbound/guarded-fetch.ts';
import {
  isMetadataAddress,
  NO_PRIVATE_NETWORKS,
  privateNetworks,
} from '../../../src/platform/outbound/private-networks.ts';

const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '::ffff:169.254.169.254',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fe80::1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
];
const everything = privateNetworks(['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', 'fc00::/7', '::1/128']);

describe('the private networks of an operator', () => {
  it.each([
    ['10.20.0.0/16', '10.20.3.4', '10.21.0.1'],
    ['192.168.7.9/32', '192.168.7.9', '192.168.7.8'],
    ['fd12:3456::/32', 'fd12:3456::1', 'fd12:3457::1'],
    ['127.0.0.1/32', '127.0.0.1', '127.0.0.2'],
  ])('%s contain %s and not %s', (network, inside, outside) => {
    const networks = privateNetworks([network]);
    expect([networks.includes(inside), networks.includes(outside), networks.isEmpty]).toEqual([true, false, false]);
  });

  it.each([
    '10.0.0.1',
    '10.0.0.0/33',
    'lan',
    '0.0.0.0/0',
    '::/0',
    '8.8.8.0/24',
    '169.254.0.0/16',
    '10.0.0.0/7',
    '0.0.0.0/32',
  ])('cannot be %s', (network) => expect(() => privateNetworks([network])).toThrow(RangeError));

  it.each(METADATA)('never contain %s, where clouds hand out credentials', (address) => {
    expect([isMetadataAddress(address), everything.includes(address)]).toEqual([true, false]);
  });
});

describe('a call to a private network', () => {
  const names = (address: string) => ({
    resolve: (
      _name: string,
      _asked: object,
      done: (error: null, found: { address: string; family: number }[]) => void,
    ) => done(null, [{ address, family: address.includes(':') ? 6 : 4 }]),
  });

  it.each(METADATA)('is refused to %s, by address or by name, whatever is allowed', async (address) => {
    for (const allowed of [{ allowPrivate: true }, { allowPrivate: false, privateNetworks: everything }]) {
      const literal = address.includes(':') ? `[${address}]` : address;
      await expect(guardedFetch(allowed)(`https://${literal}:9/`)).rejects.toThrow(OutboundRefused);
      const byName = guardedFetch({ ...allowed, ...names(address) })('https://keycloak.acme.example:9/');
      await expect(byName).rejects.toMatchObject({ message: expect.stringContaining('not public') });
    }
  });

  it('is refused for a name that also leads elsewhere, and stays HTTPS', async () => {
    const networks = { allowPrivate: false, privateNetworks: privateNetworks(['127.0.0.0/8']) };
    await expect(guardedFetch({ ...networks, ...names('10.0.0.1') })('https://a.example/')).rejects.toThrow(
      'not public',
    );
    await expect(guardedFetch(networks)('http://127.0.0.1:9/')).rejects.toThrow('must start with https://');
    // Allowed, but nothing listens there.
    await expect(guardedFetch(networks)('https://127.0.0.1:9/')).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe('a destination that is saved', () => {
  const operator = { devMode: false, outboundNetworks: privateNetworks(['10.20.0.0/16']) };
  const said = (address: string, allowPrivateNetwork: boolean, ...leadsTo: string[]) =>
    unreachableDestination(address, operator, { allowPrivateNetwork, caCertificate: null }, async () => leadsTo);

  it.each([
    ['https://idp.acme.example', false, '93.184.215.14', undefined],
    ['https://idp.acme.example', true, '10.20.1.1', undefined],
    ['https://idp.acme.example', false, '10.20.1.1', 'set allowPrivateNetwork'],
    ['https://idp.acme.example', true, '10.21.1.1', 'OUTBOUND_PRIVATE_NETWORKS'],
    ['https://idp.acme.example', true, '169.254.169.254', 'never called'],
  ])('at %s (%s) that leads to %s: %s', async (address, allowed, leadsTo, reason) => {
    const found = await said(address, allowed, leadsTo);
    if (reason === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(reason);
  });

  it('by address is not resolved, and an unknown name is no reason to refuse', async () => {
    expect(await said('https://10.20.1.1/realms/a', false)).toContain('set allowPrivateNetwork');
    expect(await said('https://[::ffff:169.254.169.254]', true)).toContain('never called');
    expect(await said('https://not-yet.acme.example', false)).toBeUndefined();
    const none = { devMode: true, outboundNetworks: NO_PRIVATE_NETWORKS };
    const choice = { allowPrivateNetwork: false, caCertificate: null };
    expect(await unreachableDestination('https://127.0.0.1', none, choice)).toBeUndefined();
  });
});
