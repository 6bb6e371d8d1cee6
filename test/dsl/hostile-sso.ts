import { afterAll, beforeAll } from 'vitest';
import { startApp, type TestApp } from './app.ts';
import { startHostileOpenIdProvider, type HostileOpenIdProvider } from './hostile-openid-provider.ts';

export interface HostileSso {
  app: TestApp;
  provider: HostileOpenIdProvider;
  /** What the provider's next ID token says. */
  nonce: string;
}

/** A service and a provider that misbehaves on demand, for all tests of a file. */
export function hostileSso(): HostileSso {
  const sso = { nonce: '' } as HostileSso;
  beforeAll(async () => {
    sso.app = await startApp({ devMode: true });
    sso.provider = await startHostileOpenIdProvider('castellan', () => sso.nonce);
  });
  afterAll(async () => {
    await sso.provider?.close();
    await sso.app?.close();
  });
  return sso;
}
