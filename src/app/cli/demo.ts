import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { compose } from '../compose/compose.ts';
import { commandLogger } from './command-log.ts';
import { readConfig, type Config } from '../config/config.ts';
import { demo, type DemoResult } from '../demo/demo.ts';
import { sayingDoubt } from './log-in-doubt.ts';
import { fileSetting } from '../config/given-settings.ts';
import { licenseSigningKey } from '../config/key-files.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { performs, type CommandLine } from './operator-command.ts';
import { wholeNumber } from './option-values.ts';
import { Obstacle, type Report } from './outcome.ts';
import type { Output } from './output.ts';

const MOST_DEVICES = 1_000;

interface Asked {
  readonly devices: number;
  readonly here?: true;
  readonly keep?: true;
}

const portOf = (url: string): number => Number(new URL(url).port);

/** Beside a running service, the demo uses it. Otherwise it starts a service on the data directory. */
async function runDemo(config: Config, env: NodeJS.ProcessEnv, output: Output, devices: number): Promise<DemoResult> {
  const interruption = interruptions();
  try {
    return await interruptible(config, env, output, devices, interruption.happened);
  } finally {
    interruption.forget();
  }
}

async function interruptible(
  config: Config,
  env: NodeJS.ProcessEnv,
  output: Output,
  devices: number,
  interrupted: Promise<never>,
): Promise<DemoResult> {
  const running = config.databaseUrl ? undefined : findEmbeddedPostgres(join(config.dataDir, 'postgres'));
  const options = { log: commandLogger(env) };
  let composed = running
    ? compose(config, { ...options, database: { ...running }, project: false, listen: false })
    : compose({ ...config, port: 0, tlsPort: 0, adminRateLimit: 100_000 }, options);
  const application = await composed;
  let isOver = false;
  const { http, tls } = running
    ? { http: `http://127.0.0.1:${config.port}`, tls: `https://127.0.0.1:${config.tlsPort}` }
    : application.addresses;
  const restart = async () => {
    await application.stop();
    if (isOver) throw new Obstacle('interrupted');
    composed = compose({ ...config, port: portOf(http), tlsPort: portOf(tls), adminRateLimit: 100_000 }, options);
    return (await composed).services;
  };
  const { trust } = application.services;
  output.say(running ? `Driving the service on ${http}` : `Started a service on ${http} for this demo`);
  try {
    // Nothing is begun that a log in doubt refuses.
    await trust.assured();
    const walk = sayingDoubt(trust, () =>
      demo(application.services, {
        devices,
        http,
        tls,
        licenseSigningKey: createPrivateKey(licenseSigningKey(config.dataDir)),
        terminal: output.terminal,
        say: output.say,
        ...(running ? {} : { restart }),
      }),
    );
    return await Promise.race([walk, interrupted]);
  } finally {
    isOver = true;
    await (await composed).stop();
  }
}

const PLACES = ['DATA_DIR', 'DATABASE_URL', 'EVENTSTORE_URL', 'REDIS_URL', 'S3_BUCKET'];

/** The settings that say where the data of the configured installation is, as they are set. */
const placesIn = (env: NodeJS.ProcessEnv): readonly string[] =>
  PLACES.flatMap((name) => [name, fileSetting(name)]).filter((name) => env[name]);

/** On an installation of its own in a temporary folder, which is deleted afterwards. */
async function demoApart(env: NodeJS.ProcessEnv, output: Output, { devices, keep }: Asked): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'castellan-demo-'));
  // Nothing else of the environment: a database or an event store that is set there belongs to a real installation.
  const own = { DATA_DIR: folder, LOG_LEVEL: env['LOG_LEVEL'] };
  const unused = placesIn(env).join(', ');
  if (unused) output.say(`This demo has data of its own and does not use ${unused}: \`demo --here\` does.`);
  try {
    const { tenantId, steps } = await runDemo(readConfig(own), own, output, devices);
    output.say('');
    output.say(
      `Everything was as expected. ${keep ? `The data is in ${folder}: DATA_DIR=${folder} npm start` : 'Nothing is left of it.'}`,
    );
    return { result: { tenantId, dataDir: keep ? folder : null, steps } };
  } finally {
    if (!keep) rmSync(folder, { recursive: true, force: true });
  }
}

/** Beside or on the configured installation, with a tenant that stays. */
async function demoHere(env: NodeJS.ProcessEnv, output: Output, { devices }: Asked): Promise<Report> {
  const config = readConfig(env);
  const { tenantId, steps } = await runDemo(config, env, output, devices);
  output.say('');
  output.say(`Everything was as expected. The demo's tenant ${tenantId} stays in this installation.`);
  return { result: { tenantId, dataDir: config.dataDir, steps } };
}

/** `happened` rejects on Ctrl-C or SIGTERM, so that the demo can clean up. */
function interruptions(): { readonly happened: Promise<never>; forget: () => void } {
  let interrupt: () => void = () => undefined;
  const happened = new Promise<never>((_resolve, reject) => {
    interrupt = () => reject(new Obstacle('interrupted'));
  });
  // It may happen before anything awaits it.
  happened.catch(() => undefined);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, interrupt);
  return {
    happened,
    forget: () => {
      for (const signal of signals) process.off(signal, interrupt);
    },
  };
}

export function addDemoCommand(program: Command, cli: CommandLine): void {
  const { env } = cli.terminal;
  performs(
    cli,
    program
      .command('demo')
      .description(
        'Run a demo on data of its own, which is deleted afterwards: enroll a fleet, report a day of telemetry, triage alerts, detect tampering, rebuild a table; exit code 1 if something is not as expected',
      )
      .option('--devices <n>', 'number of browsers', wholeNumber(MOST_DEVICES), 50)
      .option('--keep', 'keep the data, and say where it is')
      .addOption(
        new Option('--here', 'use the configured installation instead: a tenant stays in it').conflicts('keep'),
      ),
    'changes',
    (output, asked: Asked) => (asked.here ? demoHere : demoApart)(env, output, asked),
    {
      question: ({ here }) =>
        here
          ? 'This adds a demo tenant to your installation for good, and changes rows of its audit log and alerts for a moment. With a second tenant, everybody has to name the tenant at /login.'
          : undefined,
    },
  );
}
