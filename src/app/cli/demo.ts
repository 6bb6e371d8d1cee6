import { createPrivateKey } from 'node:crypto';
import { join } from 'node:path';
import type { Command } from 'commander';
import { compose } from '../compose/compose.ts';
import { newLogger } from '../../platform/observability/logger.ts';
import { readConfig } from '../config/config.ts';
import { demo } from '../demo/demo.ts';
import { licenseSigningKey } from '../config/key-files.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { wholeNumber } from './license.ts';

const portOf = (url: string): number => Number(new URL(url).port);

/** Beside a running service the demo drives that one's doors; otherwise it boots a service on the same data directory. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('a fleet enrolls, reports a day, alerts are triaged, tampering is found, a table is rebuilt')
    .option('--devices <n>', 'how many browsers', wholeNumber, 50)
    .action(async ({ devices }: { devices: number }) => {
      const config = readConfig(process.env);
      const running = config.databaseUrl ? undefined : findEmbeddedPostgres(join(config.dataDir, 'postgres'));
      const options = { log: newLogger(process.env['LOG_LEVEL'] ?? 'warn') };
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
      console.log(running ? `Driving the service on ${http}` : `Booted a service on ${http} for this demo`);
      try {
        await demo(application.services, {
          devices,
          http,
          tls,
          licenseSigningKey: createPrivateKey(licenseSigningKey(config.dataDir)),
          ...(running ? {} : { restart }),
        });
        console.log('\nAll of it held.');
      } finally {
        await application.stop();
      }
    });
}
