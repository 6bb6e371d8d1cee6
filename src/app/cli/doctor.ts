import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { dataDirectory, readConfig, type Config } from '../config/config.ts';
import { KeyFiles } from '../config/key-files.ts';
import { settingWarnings } from '../config/setting-warnings.ts';
import { isGiven } from '../config/given-settings.ts';
import { examine, examinedError, type Diagnosis } from '../operations/doctor.ts';
import type { Verdict } from '../operations/examined.ts';
import { performs, type CommandLine } from './operator-command.ts';
import type { Outcome } from './outcome.ts';
import { ConfigError } from '../../platform/config-error.ts';

const OUTCOMES = { finding: 'finding', unknown: 'unavailable' } as const;
const MARKS: Readonly<Record<Verdict, string>> = { fine: 'ok', advice: '--', finding: '!!', unknown: '??' };

/** The settings, without creating keys where the service would: this command writes nothing. */
function readOnlyConfig(env: NodeJS.ProcessEnv): Config {
  if (isGiven(env, 'DATABASE_URL')) return readConfig(env);
  const placeholders: Readonly<Record<string, () => string>> = {
    MASTER_KEY: () => randomBytes(32).toString('hex'),
    AUDIT_HMAC_KEY: () => randomBytes(32).toString('hex'),
    LICENSE_PUBLIC_KEY: () =>
      generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
  const unset = Object.entries(placeholders).filter(([name]) => !isGiven(env, name));
  // A former key that cannot be read is a problem of the key files. It does not hide the rest.
  if (isFormerUnread(env)) unset.push(['OTHER_MASTER_KEY', placeholders['MASTER_KEY']!]);
  return readConfig({ ...env, ...Object.fromEntries(unset.map(([name, make]) => [name, make()])) });
}

function isFormerUnread(env: NodeJS.ProcessEnv): boolean {
  if (isGiven(env, 'OTHER_MASTER_KEY')) return false;
  try {
    new KeyFiles(dataDirectory(env), true).formerMasterKey();
    return false;
  } catch {
    return true;
  }
}

export interface Examination {
  readonly checks: readonly Diagnosis[];
  /** `usage`: the settings are wrong. */
  readonly outcome: Outcome;
}

/** Settings first: nothing else is looked at while they are wrong. */
export async function examination(env: NodeJS.ProcessEnv): Promise<Examination> {
  const warnings = settingWarnings(env).map((message): Diagnosis => ({
    check: 'settings',
    verdict: 'finding',
    message,
  }));
  try {
    const config = readOnlyConfig(env);
    const given = { master: isGiven(env, 'MASTER_KEY'), audit: isGiven(env, 'AUDIT_HMAC_KEY') };
    const settings: Diagnosis = { check: 'settings', verdict: 'fine', message: 'all can be read' };
    const files = config.databaseUrl ? [] : new KeyFiles(config.dataDir, true).problems((name) => isGiven(env, name));
    const keys = files.map((error): Diagnosis => ({ check: 'keys', ...examinedError(error) }));
    const checks = [...(warnings.length > 0 ? warnings : [settings]), ...keys, ...(await examine(config, given))];
    const worst = (['finding', 'unknown'] as const).find((verdict) => checks.some((each) => each.verdict === verdict));
    return { checks, outcome: worst === undefined ? 'fine' : OUTCOMES[worst] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const wrong: Diagnosis = { check: 'settings', verdict: 'finding', message: error.message };
    return { checks: [wrong, ...warnings], outcome: 'usage' };
  }
}

export function addDoctorCommand(program: Command, cli: CommandLine): void {
  performs(
    cli,
    program
      .command('doctor')
      .description(
        'Check the settings and everything that they name, and change nothing; exit code 1: a finding, 2: wrong settings, 3: something could not be looked at',
      ),
    'looks',
    async (output) => {
      const { checks, outcome } = await examination(cli.terminal.env);
      for (const { check, verdict, message } of checks) output.say(`${MARKS[verdict]}  ${check}: ${message}`);
      return { result: { checks }, outcome };
    },
  );
}
