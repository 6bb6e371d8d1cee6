import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/app/config/config.ts';
import { extensionAddress } from '../../../src/contexts/enrollment/domain/extension-address.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

describe('settings of addresses and budgets', () => {
  const dataDir = scratchFolder('addresses');
  const read = (env: Record<string, string>) => readConfig({ DATA_DIR: dataDir, ...env });
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('allow exact origins only', () => {
    expect(read({}).corsAllowedOrigins).toEqual([]);
    expect(read({ CORS_ALLOWED_ORIGINS: 'https://a.example, http://localhost:3000' }).corsAllowedOrigins).toEqual([
      'https://a.example',
      'http://localhost:3000',
    ]);
    for (const wrong of [
      '*',
      'https://*.a.example',
      'https://a.example/',
      'a.example',
      'null',
      'https://A.example',
      'file:///x',
    ])
      expect(() => read({ CORS_ALLOWED_ORIGINS: `https://b.example,${wrong}` })).toThrow(
        /^CORS_ALLOWED_ORIGINS must list origins/,
      );
  });

  it('name the TLS listener of devices', () => {
    const { extensionBaseUrl } = read({ EXTENSION_BASE_URL: 'https://devices.example/' });
    expect(extensionBaseUrl).toBe('https://devices.example');
    expect(() => read({ EXTENSION_BASE_URL: 'http://devices.example' })).toThrow('EXTENSION_BASE_URL');
    const settings = { extensionBaseUrl: undefined, trustedProxies: [], tlsPort: 8443 };
    expect(extensionAddress({ ...settings, extensionBaseUrl }, 'https://a.example')).toBe('https://devices.example');
    expect(extensionAddress(settings, 'http://a.example:8080/x')).toBe('https://a.example:8443');
    expect(extensionAddress(settings, 'http://[::1]:8080')).toBe('https://[::1]:8443');
    expect(extensionAddress({ ...settings, tlsPort: 443 }, 'https://a.example')).toBe('https://a.example');
    const proxied = { ...settings, trustedProxies: ['10.0.0.1'] };
    expect(extensionAddress(proxied, 'https://a.example/x')).toBe('https://a.example/x');
    expect(extensionAddress(proxied, 'http://a.example')).toBe('https://a.example:8443');
  });

  it('give an administrator more room than an address, unless the operator chooses one figure for both', () => {
    const { adminRateLimit, addressRateLimit } = read({});
    expect({ adminRateLimit, addressRateLimit }).toEqual({ adminRateLimit: 600, addressRateLimit: 100 });
    const chosen = read({ RATE_LIMIT_RPS: '50' });
    expect([chosen.adminRateLimit, chosen.addressRateLimit]).toEqual([50, 50]);
  });
});
