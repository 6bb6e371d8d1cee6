import { createPrivateKey } from 'node:crypto';
import { join } from 'node:path';
import type { Command } from 'commander';
import { compose } from '../compose/compose.ts';
import { commandLogger } from './command-log.ts';
import { readConfig } from '../config/config.ts';
import { demo } from '../demo/demo.ts';
import { licenseSigningKey } from '../config/key-files.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { wholeNumber } from './license.ts';

const portOf = (url: string): number => Number(new URL(url).port);

/** Beside a running service, the demo uses it. Otherwise it starts a service on the same data directory. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description(
      'Run a demo: enroll a fleet, report a day of telemetry, triage alerts, detect tampering, rebuild a table',
    )
    .option('--devices <n>', 'number of browsers', wholeNumber, 50)
    .action(async ({ devices }: { devices: number }) => {
      const config = readConfig(process.env);
      const running = config.databaseUrl ? undefined : findEmbeddedPostgres(join(config.dataDir, 'postgres'));
      const options = { log: commandLogger() };
      let application = running
        ? await compose(config, { ...options, database: { ...running }, project: false, listen: false })
        : await compose({ ...config, port: 0, tlsPort: 0, adminRateLimit: 100_000 }, options);
      const { http, tls } = running
        ? { http: `http://127.0.0.1:${config.port}`, tls: `https://127.0.0.1:${config.tlsPort}` }
        : application.addresses;
      const restart = async () => {
        await application.stop();
        application = await compose(
          { ...config, port: portOf(http), tlsPort: portOf(tls), adminRateLimit: 100_000 },
          options,
        );
        return application.services;
      };
      console.log(running ? `Driving the service on ${http}` : `Started a service on ${http} for this demo`);
      try {
        await demo(application.services, {
          devices,
          http,
          tls,
          licenseSigningKey: createPrivateKey(licenseSigningKey(config.dataDir)),
          ...(running ? {} : { restart }),
        });
        console.log('\nEverything was as expected.');
      } finally {
        await application.stop();
      }
    });
}
