import { compose, type Application } from '../../../../src/app/compose/compose.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { httpClient, mutualTlsClient, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { cheapPasswords } from '../../../dsl/cheap-passwords.ts';
import type { EnrolledDevice } from '../../../dsl/enrolled-device.ts';

/** The same installation on another store: its database and keys stay. */
export interface MovedInstallation {
  readonly application: Application;
  readonly services: Application['services'];
  as(tenant: TestTenant): Client;
  browser(device: EnrolledDevice): Client & { close(): void };
}

export async function start(
  app: TestApp,
  eventStoreUrl: string | undefined,
  isService: boolean,
): Promise<MovedInstallation> {
  const log = newLogger(app.config.logLevel);
  const options = {
    database: app.services.database.config,
    log,
    passwords: cheapPasswords(),
    ...(isService ? {} : { listen: false, project: false }),
  };
  const application = await compose({ ...app.config, eventStoreUrl }, options);
  return {
    application,
    services: application.services,
    as: ({ token }) => httpClient(application.addresses.http, { authorization: `Bearer ${token}` }),
    browser: ({ certificatePem, privateKeyPem }) =>
      mutualTlsClient(application.addresses.tls, certificatePem, privateKeyPem),
  };
}

/** As an operator's command: it neither serves nor projects. */
export async function withOperator<T>(
  app: TestApp,
  eventStoreUrl: string | undefined,
  work: (services: Application['services']) => Promise<T>,
): Promise<T> {
  const operator = await start(app, eventStoreUrl, false);
  try {
    return await work(operator.services);
  } finally {
    await operator.application.stop();
  }
}
