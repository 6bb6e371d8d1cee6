import { secretSettings, settingNames } from './environment.ts';
import { fileSetting, misspelledSettings } from './given-settings.ts';

/** Variables that earlier versions read, and what to do instead. */
const RETIRED: Readonly<Record<string, string>> = {
  AUTO_ENROLL_SECRET:
    'is not read any more: give each tenant a secret of its own (POST /api/v1/admin/enrollment/agent-secret)',
};

const OTHER_NAMES = secretSettings.map(fileSetting);

/** Files that nothing reads, by the setting whose name is in theirs. */
const FILES_OF_NONE = settingNames
  .filter((name) => !secretSettings.includes(name))
  .map((name) => ({ name, file: fileSetting(name) }))
  .filter(({ file }) => !settingNames.includes(file));

/** A warning for each variable that is set and has no effect: of an earlier version, a file, or misspelled. */
export const settingWarnings = (env: NodeJS.ProcessEnv = process.env): string[] => [
  ...Object.entries(RETIRED).flatMap(([name, advice]) => (env[name] ? [`${name} ${advice}`] : [])),
  ...FILES_OF_NONE.flatMap(({ name, file }) =>
    env[file] ? [`${file} is not a setting and has no effect: only secrets can be in a file; set ${name}`] : [],
  ),
  ...misspelledSettings(env, [...settingNames, ...OTHER_NAMES, ...FILES_OF_NONE.map(({ file }) => file)]),
];
