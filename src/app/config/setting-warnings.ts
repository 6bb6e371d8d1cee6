import { secretSettings, settingNames } from './environment.ts';
import { fileSetting, misspelledSettings } from './given-settings.ts';

/** Variables that earlier versions read, and what to do instead. */
const RETIRED: Readonly<Record<string, string>> = {
  AUTO_ENROLL_SECRET:
    'is not read any more: give each tenant a secret of its own (POST /api/v1/admin/enrollment/agent-secret)',
};

const OTHER_NAMES = secretSettings.map(fileSetting);

/** A warning for each variable that is set and has no effect: of an earlier version, or misspelled. */
export const settingWarnings = (env: NodeJS.ProcessEnv = process.env): string[] => [
  ...Object.entries(RETIRED).flatMap(([name, advice]) => (env[name] ? [`${name} ${advice}`] : [])),
  ...misspelledSettings(env, [...settingNames, ...OTHER_NAMES]),
];
